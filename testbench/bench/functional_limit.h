// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/proto/types.h"

namespace hca::bench {
// F, the functional limit: the minimum work of any model for a packet. The payload is copied from
// memory into a frame, a CRC is computed over it and checked, a 64 byte context is updated, and the
// payload is copied into memory.
class FunctionalLimit {
 public:
  // The minimum duration of a measurement in seconds, for streams and for F; the shortest of
  // several counts. Some hundreds of messages of 64 KiB, so that one message more or less changes
  // little.
  static constexpr double kStretch = 0.020;
  explicit FunctionalLimit(u32 mtu);
  void packet();
  // Seconds a packet, measured over kStretch or a little more.
  double stretch();
  // The same: the shortest of several measurements in this process.
  static double seconds_per_packet(u32 mtu);

 private:
  static constexpr u32 kWorkingSet = 32 << 10, kHeaderBytes = 64;
  struct alignas(64) Context {
    u32 psn = 0, spare = 0;
    u64 bytes = 0, messages = 0, rest[5] = {};
  };
  // Copies between buffers that do not begin at a cache line take up to twice as long; copies
  // between addresses that are nearly equal modulo 4 KiB take a tenth longer. F must not depend on
  // the heap layout, so the working set is followed by a gap and the frame.
  static constexpr u32 kGapBytes = 1 << 10;
  struct alignas(64) Line {
    u8 bytes[64];
  };
  u32 mtu_, at_ = 0;
  std::vector<Line> lines_;
  std::vector<Context> contexts_;
};
}  // namespace hca::bench

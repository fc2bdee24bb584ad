// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/proto/types.h"

namespace hca::bench {
// F, the functional limit: what any model has to do for a packet at least. The payload is copied
// from memory into a frame, a CRC is computed over it, checked again, a 64 byte context is updated,
// and the payload is copied into memory.
class FunctionalLimit {
 public:
  // Seconds that a stretch takes at least, of a stream as of F; of each the shortest counts. Some
  // hundreds of messages of 64 KiB, so that one more or less changes little.
  static constexpr double kStretch = 0.020;
  explicit FunctionalLimit(u32 mtu);
  void packet();
  // Seconds a packet, over kStretch or a little more.
  double stretch();
  // The same, the shortest of several stretches in this process.
  static double seconds_per_packet(u32 mtu);

 private:
  static constexpr u32 kWorkingSet = 32 << 10, kHeaderBytes = 64;
  struct alignas(64) Context {
    u32 psn = 0, spare = 0;
    u64 bytes = 0, messages = 0, rest[5] = {};
  };
  // Copies between buffers that do not begin at a line of the cache take up to twice as long, and
  // between places that are equal modulo 4 KiB, or nearly, a tenth longer: how the heap lies must
  // not change F. The working set is followed by a gap and the frame.
  static constexpr u32 kGapBytes = 1 << 10;
  struct alignas(64) Line {
    u8 bytes[64];
  };
  u32 mtu_, at_ = 0;
  std::vector<Line> lines_;
  std::vector<Context> contexts_;
};
}  // namespace hca::bench

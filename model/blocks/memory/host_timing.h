// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"

namespace hca::blocks {
using engine::Cycle;

// Computes when a DMA request of the HCA reaches host memory and when its data are back, for the
// path in between. Calls come in the order in which the requests leave the chip; the implementation
// tracks the occupancy of its links.
struct ReadTiming {
  Cycle next;         // the next read may leave from this cycle on
  Cycle memory;       // the request reaches memory: its bytes are read in this cycle
  Cycle first, last;  // first and last data are back at the chip
};
struct WriteTiming {
  Cycle next;    // the next write may leave from this cycle on
  Cycle memory;  // its last byte has reached memory
};
class HostTiming {
 public:
  virtual ~HostTiming() = default;
  // A read of `bytes` (at least 1) from `address`, requested in cycle `at`.
  virtual ReadTiming read(Cycle at, u64 address, u32 bytes) = 0;
  // An AtomicOp with this many bytes of operands: its value is read and replaced in cycle `memory`.
  // The default is the timing of a read.
  virtual ReadTiming atomic(Cycle at, u64 address, u32 operands);
  // A posted write to `address` whose first and last bytes are available in these cycles.
  virtual WriteTiming write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) = 0;
};

// A host without a link: each read takes `latency` there and back, each write `latency` one way.
// For tests, and for platforms whose memory system models the time itself.
class FixedHostTiming : public HostTiming {
 public:
  explicit FixedHostTiming(Cycle latency) : latency_(latency) {}
  ReadTiming read(Cycle at, u64 address, u32 bytes) override;
  WriteTiming write(Cycle first_in, Cycle last_in, u64 address, u32 bytes) override;

 private:
  Cycle latency_;
};
}  // namespace hca::blocks

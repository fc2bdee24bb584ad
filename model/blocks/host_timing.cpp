// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/host_timing.h"

namespace hca::blocks {
ReadTiming FixedHostTiming::read(Cycle at, u64, u32 bytes) {
  const Cycle beats = (bytes + 63) / 64;
  return {at + 1, at + latency_, at + 2 * latency_, at + 2 * latency_ + beats - 1};
}

WriteTiming FixedHostTiming::write(Cycle, Cycle last_in, u64, u32 bytes) {
  const Cycle beats = (bytes + 63) / 64;
  return {last_in + beats, last_in + beats - 1 + latency_};
}
}  // namespace hca::blocks

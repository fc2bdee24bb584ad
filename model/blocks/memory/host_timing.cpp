// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/host_timing.h"

#include "model/proto/interface/work_rows.h"

namespace hca::blocks {
ReadTiming HostTiming::atomic(Cycle at, u64 address, u32) {
  return read(at, address, proto::kAtomicBytes);
}

ReadTiming FixedHostTiming::read(Cycle at, u64, u32 bytes) {
  const Cycle beats = (bytes + 63) / 64;
  return {at + 1, at + latency_, at + 2 * latency_, at + 2 * latency_ + beats - 1};
}

WriteTiming FixedHostTiming::write(Cycle, Cycle last_in, u64, u32 bytes) {
  const Cycle beats = (bytes + 63) / 64;
  return {last_in + beats, last_in + beats - 1 + latency_};
}
}  // namespace hca::blocks

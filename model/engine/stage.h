// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "model/engine/cycle.h"

namespace hca::engine {
// A fixed stretch of a segment: what enters in cycle n leaves in n + latency, and the next may
// enter `interval` cycles after it (or after the item's own beats, if those are more). Room behind
// it was reserved before, so it never stalls; what comes too early waits in front of it. This is
// exact and costs no activation.
class Stage {
 public:
  Stage(Cycle latency, Cycle interval)
      : latency_(latency), interval_(std::max<Cycle>(interval, 1)) {}
  // Of one beat.
  Cycle enter(Cycle at) {
    const Cycle start = std::max(at, free_from_);
    free_from_ = start + interval_;
    return start + latency_;
  }
  Cycle enter(Cycle at, Cycle beats) {
    const Cycle start = std::max(at, free_from_);
    free_from_ = start + std::max(interval_, beats);
    return start + latency_;
  }
  Cycle free_from() const { return free_from_; }

 private:
  Cycle latency_, interval_, free_from_ = 0;
};
}  // namespace hca::engine

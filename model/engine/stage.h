// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "model/engine/cycle.h"

namespace hca::engine {
// A fixed stretch of a segment: an item that enters in cycle n leaves in n + latency, and the next
// may enter `interval` cycles later (or after the item's own beats, if those are more). Room after
// the stage was reserved before, so it never stalls; early items wait before it. This is exact and
// costs no activation.
class Stage {
 public:
  Stage(Cycle latency, Cycle interval)
      : latency_(latency), interval_(std::max<Cycle>(interval, 1)) {}
  // Enters an item of one beat.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "testbench/host/host_cpu.h"

namespace hca::testbench {
// A lock that cores of a host take in the order in which they ask. While one has it, it does
// nothing else; the others wait.
class HostLock {
 public:
  // `each`: the time that a core takes to lock, and `contention` for each core before it.
  struct Costs {
    Cycle each = 0, contention = 0;
  };
  struct Turn {
    Cycle from;    // the core has the lock
    Cycle locked;  // the time that the lock itself takes
    Cycle waited;
  };
  // In cycle `at`, for the time of the lock itself and of `work` cycles that the core does with it.
  // The action of the core takes as much longer as it waits and locks.
  Turn take(HostCpu& core, const Costs& costs, Cycle at, Cycle work, HostCost cost) {
    while (!ends_.empty() && ends_.front() <= at) ends_.pop_front();
    const Cycle from = ends_.empty() ? at : ends_.back();
    const Cycle locked = costs.each + costs.contention * ends_.size();
    ends_.push_back(from + locked + work);
    core.lock(from - at + locked, from - at, from + locked + work, cost);
    return {from, locked, from - at};
  }

 private:
  std::deque<Cycle> ends_;  // of the current and waiting turns
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "model/proto/types.h"
#include "testbench/programs/server/shared_word.h"

namespace hca::time_library {
// A lock for short sections, never held while a thread waits for its turn. A waiter yields by a
// system call: the program's own sched_yield() takes simulated time, and not every thread here has
// a turn.
class SpinLock {
 public:
  void lock() {
    while (held_.exchange(1, std::memory_order_acquire)) attach::let_others_run();
  }
  void unlock() { held_.store(0, std::memory_order_release); }

 private:
  attach::Shared<u32> held_{0};
};
}  // namespace hca::time_library

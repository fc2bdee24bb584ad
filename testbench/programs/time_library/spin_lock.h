// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>

#include "model/proto/types.h"
#include "testbench/programs/server/shared_word.h"

namespace hca::time_library {
// For what is held for moments, and never while a thread waits for its turn. Who waits yields by
// the kernel: the program's own sched_yield() takes simulated time, and not each thread that is
// here has a turn.
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

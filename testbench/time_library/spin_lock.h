// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/syscall.h>

#include <atomic>

#include "testbench/attach/kernel_call.h"

namespace hca::time_library {
// For what is held for moments, and never while a thread waits for its turn. Who waits yields by
// the kernel: the program's own sched_yield() takes simulated time, and not each thread that is
// here has a turn.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) attach::kernel_call(SYS_sched_yield);
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};
}  // namespace hca::time_library

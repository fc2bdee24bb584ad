// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "model/proto/types.h"
#include "testbench/programs/server/kernel_call.h"

namespace hca::attach {
// Gives the processor to the process that this one waits for. sched_yield() is faster if no other
// process computes. Beside computing processes, a yield returns only after their time slices,
// milliseconds later, while a short sleep returns at once: then it sleeps.
class LetOthers {
 public:
  // False: sleeping is better. Measures one yield in eight to detect long ones.
  bool yield_unless_long() {
    if (sleeps_) {
      --sleeps_;
      return false;
    }
    const bool measures = ++yields_ % kBetweenMeasures == 0;
    const u64 from = measures ? now() : 0;
    kernel_call(SYS_sched_yield);  // by name it would call the program's own
    if (!measures) return true;
    if (now() - from > kLong)
      sleeps_ = longer_ = std::min(2 * longer_, kMost);
    else if (yields_ % kMost == 0)
      longer_ = kLeast;
    return true;
  }
  // `sleep`: returns when the awaited event has happened, or after some moments.
  template <class Sleep>
  void wait(Sleep sleep) {
    if (!yield_unless_long()) sleep();
  }
  void yield() {
    wait([] {
      const timespec moment{0, kMoment};
      kernel_call(SYS_nanosleep, &moment, nullptr);
    });
  }
  static constexpr long kMoment = 20'000;  // ns

 private:
  // A turn of the awaited process is shorter than this.
  static constexpr u64 kLong = 500'000;
  static constexpr unsigned kBetweenMeasures = 8, kLeast = 512, kMost = 65536;
  // By a system call: the time stamp counter may trap, and the clocks may be simulated.
  static u64 now() {
    timespec time{};
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return u64(time.tv_sec) * 1'000'000'000 + u64(time.tv_nsec);
  }
  unsigned sleeps_ = 0, longer_ = kLeast, yields_ = 0;
};
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "model/proto/types.h"
#include "testbench/programs/server/kernel_call.h"

namespace hca::attach {
// Who waits for another process lets it have this processor. To yield is the shorter way where
// nobody else computes. Beside programs that compute whoever yields gets the processor back after
// their turns, milliseconds later, and who sleeps for a moment at once: then it sleeps.
class LetOthers {
 public:
  // False: it is better to sleep. A yield that takes long is found by one in eight.
  bool yield_unless_long() {
    if (sleeps_) return --sleeps_, false;
    const bool measures = ++yields_ % kBetweenMeasures == 0;
    const u64 from = measures ? now() : 0;
    kernel_call(SYS_sched_yield);  // by name it would be the program's own
    if (!measures) return true;
    if (now() - from > kLong)
      sleeps_ = longer_ = std::min(2 * longer_, kMost);
    else if (yields_ % kMost == 0)
      longer_ = kLeast;
    return true;
  }
  // `sleep`: until what it waits for is there, or some moments have passed.
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
  // A turn of the other process that it waits for is shorter.
  static constexpr u64 kLong = 500'000;
  static constexpr unsigned kBetweenMeasures = 8, kLeast = 512, kMost = 65536;
  // By the kernel: the time stamp counter may trap, and the clocks may be simulated.
  static u64 now() {
    timespec time{};
    kernel_call(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
    return u64(time.tv_sec) * 1'000'000'000 + u64(time.tv_nsec);
  }
  unsigned sleeps_ = 0, longer_ = kLeast, yields_ = 0;
};
}  // namespace hca::attach

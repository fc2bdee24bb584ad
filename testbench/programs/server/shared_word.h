// SPDX-License-Identifier: Apache-2.0
// Words shared by threads, program and server, and the wait for a change of one. The test of turns
// (testbench/tests/programs/time_library/turns) has its own version of this file, in which an
// explorer chooses who continues.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "testbench/programs/server/kernel_call.h"

namespace hca::attach {
template <class T>
using Shared = std::atomic<T>;
inline constexpr bool kWatches = true;  // polls a word briefly before it sleeps

// Sleeps until the word differs from `seen`, a wake-up, or this many nanoseconds of real time.
template <class T>
void sleep_while(Shared<T>& word, T seen, long nanoseconds) {
  const timespec longest{0, nanoseconds};
  kernel_call(SYS_futex, &word, FUTEX_WAIT, static_cast<unsigned>(seen), &longest, nullptr, 0);
}
template <class T>
void wake_one(Shared<T>& word) {
  kernel_call(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}
// A direct system call: sched_yield() by name would be the program's, which takes turns.
inline void let_others_run() { kernel_call(SYS_sched_yield); }
}  // namespace hca::attach

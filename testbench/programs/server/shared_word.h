// SPDX-License-Identifier: Apache-2.0
// Words that threads, program and server share, and how they wait for one. The test of turns
// (testbench/tests/programs/time_library/turns) has another file of this name, where an explorer
// says who goes on next.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "testbench/programs/server/kernel_call.h"

namespace hca::attach {
template <class T>
using Shared = std::atomic<T>;
inline constexpr bool kWatches = true;  // a word, for a moment, before it sleeps

// Until the word is not `seen` any more, somebody wakes, or so many nanoseconds have really passed.
template <class T>
void sleep_while(Shared<T>& word, T seen, long nanoseconds) {
  const timespec longest{0, nanoseconds};
  kernel_call(SYS_futex, &word, FUTEX_WAIT, static_cast<unsigned>(seen), &longest, nullptr, 0);
}
template <class T>
void wake_one(Shared<T>& word) {
  kernel_call(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}
// By the kernel: sched_yield() by name would be the program's, which takes turns.
inline void let_others_run() { kernel_call(SYS_sched_yield); }
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
// Programs whose clocks show simulated time take turns: the simulation stands while a thread of one
// runs, and gives the next turn when simulated time has come to where that thread wants to go on.
// What program and `hca serve` share for that.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "model/proto/types.h"

namespace hca::attach {
inline constexpr std::size_t kMostThreads = 32;  // of a program, and of all of a device
inline constexpr u64 kForEver = ~u64{0};

enum class Turn : u32 {
  None,    // there is no such thread
  Wants,   // it wants a turn, now
  Runs,    // it has the turn, and the simulation stands
  Waits,   // it has told what it waits for
  Silent,  // it ran for so long without a call that the simulation goes on without it
};
enum class Wait : u32 {
  Work,        // until so much time has passed
  Completion,  // until its HCA writes a completion, at longest so much time
  Descriptor,  // until somebody may have made a file descriptor ready, at longest so much time
};

struct SharedThread {
  alignas(64) std::atomic<Turn> turn;
  Wait wait;
  u32 tid;
  u64 work;              // ps that it has worked, in front of its wait
  u64 picoseconds;       // of its wait
  std::atomic<u64> now;  // ps: when its turn began
};

// What its calls take: knobs `host.*`, in ps.
struct HostCosts {
  u64 post_send = 0, doorbell = 0, post_recv = 0, poll = 0, completion = 0, arm = 0, event = 0;
};

// Another program, for something that was done to a socket; a thread of the same program.
inline constexpr u32 kOthers = 1, kOwn = 2;

struct SharedProcess {
  HostCosts costs;
  std::atomic<u32> told;  // kOthers, kOwn: who may wait for what it did
  std::atomic<u32> ends;  // its last turn: it exits
  std::array<SharedThread, kMostThreads> threads;
};
static_assert(std::atomic<Turn>::is_always_lock_free && std::atomic<u64>::is_always_lock_free);

// Until `turn` is not `seen` any more, somebody wakes, or so many nanoseconds have really passed.
inline void sleep_on(std::atomic<Turn>& turn, Turn seen, long nanoseconds) {
  const timespec longest{0, nanoseconds};
  syscall(SYS_futex, &turn, FUTEX_WAIT, u32(seen), &longest, nullptr, 0);
}
inline void wake(std::atomic<Turn>& turn) {
  syscall(SYS_futex, &turn, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}
// For a moment, 10 us at the longest: the other side often answers at once. Where it did not, the
// moments become shorter: it may need this processor.
inline void watch_for(const std::atomic<Turn>& turn, Turn seen) {
  constexpr unsigned kMost = 20'000, kLeast = 500;
  static thread_local unsigned looks = kMost;
  for (unsigned i = 0; i < looks; ++i)
    if (turn.load(std::memory_order_acquire) != seen) {
      looks = std::min(2 * looks, kMost);
      return;
    }
  looks = std::max(looks / 2, kLeast);
}
}  // namespace hca::attach

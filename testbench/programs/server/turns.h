// SPDX-License-Identifier: Apache-2.0
// The shared state of turns. Programs in simulated time take turns with the simulation: it stands
// while a thread runs, and gives the next turn when simulated time has reached the point where that
// thread wants to continue.
#pragma once
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "model/proto/types.h"
#include "testbench/programs/server/let_others.h"
#include "testbench/programs/server/shared_word.h"

namespace hca::attach {
inline constexpr std::size_t kMostThreads = 256;  // for a program, and for all programs of a device
inline constexpr u64 kForEver = ~u64{0};

enum class Activity : u32 {
  None,    // there is no such thread
  Wants,   // it wants a turn, now
  Runs,    // it has the turn; the simulation stands
  Waits,   // it has stated what it waits for
  Silent,  // it ran so long without a call that the simulation continues without it
};
enum class Wait : u32 {
  Work,        // until this much time has passed
  Completion,  // until its HCA writes a completion, with a time limit
  Descriptor,  // until a file descriptor may have become ready, with a time limit
  Memory,      // until a word that it polls may have changed, with a time limit
};
inline constexpr std::size_t kMostLooks = 8;

// The state of a thread without calls, when the server examines it by a signal: it computes; it
// waits for memory that somebody else writes; or it seems to wait: it reads such memory in each
// round, but also counts rounds.
enum class Finding : u32 { None, Computes, Waits, Looks };
inline constexpr u32 kFindingBits = 2;
inline constexpr int kExamine = SIGSTKFLT;  // never sent by a kernel

// The ring of a queue's completions in the shared memory.
struct CompletionRing {
  u64 address = 0, bytes = 0;  // 0: any queue
  u32 attachment = 0;
  bool operator==(const CompletionRing&) const = default;
};

struct SharedThread {
  alignas(64) Shared<Activity> activity;
  Shared<u32> sleeps;  // the waiter for another activity must be woken
  // The last processor of the thread, and of the simulation when it gave the turn.
  Shared<u32> processor, simulated_on;
  Wait wait;
  u32 tid;
  // threads that it has created; a thread that creates others is not silent
  Shared<u32> threads_made;
  Shared<u32> in_flight;   // the awaited item may have been sent and not yet arrived
  Shared<u64> cost;        // ps of its calls since its turn began (HostCosts)
  u64 work;                // ps of work before its wait
  u64 picoseconds;         // duration of its wait
  CompletionRing ring;     // the ring whose completion it waits for
  u32 any_write;           // 1: it also waits for other writes by the HCA
  Shared<u32> wrote_else;  // such a write during a wait for a completion only
  Shared<u64> now;         // ps: when its turn began
  Shared<u32> asked,
      steps;            // number of examinations, and maximum number of instructions
  Shared<u32> finding;  // number of the examination, with a Finding in the lowest bits
  Shared<u64> at;       // the instruction at which it was
  u32 looks;            // wait for memory: number of addresses, eight bytes each
  std::array<u64, kMostLooks> looked_at;
};

// The durations of its calls: knobs `host.*`, in ps.
struct HostCosts {
  u64 post_send = 0, doorbell = 0, post_recv = 0, poll = 0, completion = 0, arm = 0, event = 0;
  u64 create = 0, modify = 0, region = 0, region_page = 0;
};

// Which threads may wait for an action of this thread: kOwn: others of its program, for a lock and
// the like; kPipe: any thread, after a write to a pipe; kNetwork: a reader of a network socket,
// through which it arrives later.
inline constexpr u32 kOwn = 1, kPipe = 2, kNetwork = 4;

struct SharedProcess {
  HostCosts costs;
  Shared<u32> told;     // kOwn, kPipe, kNetwork: who may wait for its actions
  Shared<u32> ends;     // its last turn: it exits
  Shared<u32> looking;  // threads that wait for memory
  Shared<u32> places;   // number of entries ever used below
  std::array<SharedThread, kMostThreads> threads;  // the first: the thread that opened the clock
};
static_assert(std::atomic<Activity>::is_always_lock_free && std::atomic<u64>::is_always_lock_free);

// Sleeps until its activity differs from `seen`, a wake-up, or this many nanoseconds of real time.
inline void sleep_on(SharedThread& thread, Activity seen, long nanoseconds) {
  thread.sleeps.fetch_add(1);
  sleep_while(thread.activity, seen, nanoseconds);
  thread.sleeps.fetch_sub(1);
}
// Wakes a thread whose turn has changed.
inline void wake(SharedThread& thread) {
  if (thread.sleeps.load()) wake_one(thread.activity);
}
// Polls briefly, because the other side often answers at once. `processor`: the other side's last
// one; if it is this processor, yields it, otherwise polls at most 10 us. After failures it polls
// less often and for shorter. Beside computing programs it does not yield, because a sleeper gets
// the processor sooner.
inline void watch_for(const SharedThread& thread, Activity seen, const Shared<u32>& processor) {
  if constexpr (!kWatches) return;
  constexpr unsigned kMost = 20'000, kLeast = 500, kVain = 4, kBetweenTrials = 16;
  static thread_local unsigned looks = kMost, vain = 0;
  const auto has_changed = [&] { return thread.activity.load(std::memory_order_acquire) != seen; };
  if (processor.load(std::memory_order_relaxed) == u32(sched_getcpu())) {
    static thread_local LetOthers others;
    if (has_changed() || (vain >= kVain && ++vain % kBetweenTrials)) return;
    if (!others.yield_unless_long()) return;
    vain = has_changed() ? 0 : vain + 1;
    return;
  }
  for (unsigned i = 0; i < looks; ++i)
    if (has_changed()) {
      looks = std::min(2 * looks, kMost);
      return;
    }
  looks = std::max(looks / 2, kLeast);
}
}  // namespace hca::attach

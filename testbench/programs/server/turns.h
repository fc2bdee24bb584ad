// SPDX-License-Identifier: Apache-2.0
// Programs whose clocks show simulated time take turns: the simulation stands while a thread of one
// runs, and gives the next turn when simulated time has come to where that thread wants to go on.
// What program and `hca serve` share for that.
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
inline constexpr std::size_t kMostThreads = 256;  // of a program, and of all of a device
inline constexpr u64 kForEver = ~u64{0};

enum class Activity : u32 {
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
  Memory,      // until a word that it looks at may be another, at longest so much time
};
inline constexpr std::size_t kMostLooks = 8;

// What a thread that makes no call is found to do, when the server asks by this signal: whether it
// computes, waits for memory that somebody else writes, or seems to: it looks at such memory in
// each of its rounds, but counts them, too.
enum class Finding : u32 { None, Computes, Waits, Looks };
inline constexpr u32 kFindingBits = 2;
inline constexpr int kExamine = SIGSTKFLT;  // which no kernel sends

// Where the HCA writes the completions of a queue: in the memory that program and server share.
struct CompletionRing {
  u64 address = 0, bytes = 0;  // none: any queue's
  u32 attachment = 0;
  bool operator==(const CompletionRing&) const = default;
};

struct SharedThread {
  alignas(64) Shared<Activity> activity;
  Shared<u32> sleeps;  // who waits for another turn wants to be woken
  // Where they were last: the thread, and the simulation that gave it its turn.
  Shared<u32> processor, simulated_on;
  Wait wait;
  u32 tid;
  Shared<u32> threads_made;  // so far, by it: who makes some is not silent
  Shared<u32> in_flight;     // what it waits for may have been sent and not come yet
  Shared<u64> cost;          // ps since its turn began that are of its calls (HostCosts)
  u64 work;                  // ps that it has worked, in front of its wait
  u64 picoseconds;           // of its wait
  CompletionRing ring;       // for whose completion it waits
  u32 any_write;             // 1: and for what else the HCA writes
  Shared<u32> wrote_else;    // while it waited for a completion alone
  Shared<u64> now;           // ps: when its turn began
  Shared<u32> asked,
      steps;            // how often it was examined, and for how many instructions at most
  Shared<u32> finding;  // which of those, and in the lowest bits a Finding
  Shared<u64> at;       // the instruction at which it was then
  u32 looks;            // of a wait for memory: so many addresses of eight bytes each
  std::array<u64, kMostLooks> looked_at;
};

// What its calls take: knobs `host.*`, in ps.
struct HostCosts {
  u64 post_send = 0, doorbell = 0, post_recv = 0, poll = 0, completion = 0, arm = 0, event = 0;
  u64 create = 0, modify = 0, region = 0, region_page = 0;
};

// Who may wait for what a thread did: another of its program, for a lock and the like; any thread,
// for something that was done to a pipe; to a socket of a network, through which it comes later.
inline constexpr u32 kOwn = 1, kPipe = 2, kNetwork = 4;

struct SharedProcess {
  HostCosts costs;
  Shared<u32> told;                                // kOwn and so on: who may wait for what it did
  Shared<u32> ends;                                // its last turn: it exits
  Shared<u32> looking;                             // threads that wait for memory
  Shared<u32> places;                              // so many of those below have been used
  std::array<SharedThread, kMostThreads> threads;  // the first: of the thread that opened the clock
};
static_assert(std::atomic<Activity>::is_always_lock_free && std::atomic<u64>::is_always_lock_free);

// Until its turn is not `seen` any more, somebody wakes, or so many nanoseconds have really passed.
inline void sleep_on(SharedThread& thread, Activity seen, long nanoseconds) {
  thread.sleeps.fetch_add(1);
  sleep_while(thread.activity, seen, nanoseconds);
  thread.sleeps.fetch_sub(1);
}
// Its turn has changed.
inline void wake(SharedThread& thread) {
  if (thread.sleeps.load()) wake_one(thread.activity);
}
// For a moment: the other side often answers at once. `processor`: on which that ran last. If it is
// this one, it gets it; elsewhere 10 us at the longest. Where it was in vain, it is tried more
// rarely, and the moments become shorter. Beside programs that compute nothing is yielded: who
// sleeps gets the processor sooner.
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

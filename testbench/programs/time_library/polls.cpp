// SPDX-License-Identifier: Apache-2.0
// Notifications by the verbs library: work, and polls of completion queues.
#include <algorithm>
#include <utility>

#include "testbench/programs/time_library/library.h"
#include "testbench/programs/time_library/turns.h"

using namespace hca;
using namespace hca::time_library;

namespace {
constexpr u64 kMicrosecond = 1'000'000, kMillisecond = 1000 * kMicrosecond;
}  // namespace

void hca_time_spend(u64 picoseconds) {
  spend(picoseconds);
  if (t_mine.slot) t_mine.slot->cost.fetch_add(picoseconds, std::memory_order_relaxed);
  t_mine.free_polls = std::max(t_mine.free_polls, 1u);
}
void hca_time_settle() {
  act();
  settle();
}
void hca_time_catch_up() {
  constexpr u64 kAhead = kMicrosecond;
  act();
  if (is_open() && t_mine.debt > kAhead) settle();
}
u64 hca_time_now() { return now(); }
void hca_time_poll(const attach::CompletionRing& ring) {
  if (ring == t_mine.polled)
    ++t_mine.polls;
  else {
    t_mine.polled = ring;
    t_mine.polls = 0;
  }
}
// A thread that has done something before, and polls until nothing is left, may arm the queue and
// sleep.
static bool returns_at_once() {
  u32& left = t_mine.free_polls;
  return left && left--;
}
// A thread that has polled a single queue for a while waits only for that: events for other threads
// would be useless turns.
void hca_time_await_completion(u32 times) {
  constexpr u32 kPollsOne = 64;
  constexpr u64 kShortest = 10 * kMicrosecond;
  constexpr u32 kDoublings = 7;
  static_assert(kShortest << kDoublings > kMillisecond);
  if (returns_at_once()) return;
  // A thread that reads a clock between two polls may have a deadline.
  if (std::exchange(t_mine.watches, false)) times = 0;
  const u64 longest = kShortest << std::min(times, kDoublings);
  wait_for_completion(t_mine.polls > kPollsOne ? t_mine.polled : attach::CompletionRing{}, longest);
}

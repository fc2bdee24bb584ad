// SPDX-License-Identifier: Apache-2.0
// The interface of the verbs library to the time library. It exists only in simulated time:
// otherwise these functions are undefined, and calls through here do nothing.
#pragma once
#include "testbench/programs/server/turns.h"

#define HCA_CLOCK extern "C" __attribute__((weak, visibility("default")))

// Returns the program's number at the server of this socket; 0: see errno. Its first turn has
// begun.
HCA_CLOCK hca::u32 hca_time_open(const char* socket, const char* device);
// Adds work of this many picoseconds to the thread: its next action is that much later.
HCA_CLOCK void hca_time_spend(hca::u64 picoseconds);
// Waits until the simulation has reached the thread's time.
HCA_CLOCK void hca_time_settle();
// Waits until the simulation is at most slightly behind the thread's time.
HCA_CLOCK void hca_time_catch_up();
// The time of the thread, in ps: the simulation's time plus its own work since.
HCA_CLOCK hca::u64 hca_time_now();
// The time of day at the beginning of simulated time, in ns.
HCA_CLOCK hca::u64 hca_time_start_of_day();
// The thread polls this queue, with or without success.
HCA_CLOCK void hca_time_poll(const hca::attach::CompletionRing& ring);
// Waits until the HCA has written a completion, or for a time that grows with `times`.
HCA_CLOCK void hca_time_await_completion(hca::u32 times);
HCA_CLOCK const hca::attach::HostCosts* hca_time_costs();
// Announces that the HCA may write there from now on.
HCA_CLOCK void hca_time_may_be_written(hca::u64 address, hca::u64 bytes);
// Signals with handlers, one bit each from signal 1 on.
HCA_CLOCK hca::u64 hca_time_handled_signals();

namespace hca::clock {
inline bool is_simulated() { return hca_time_costs && hca_time_costs(); }
// The signals to block while no handler may run. In simulated time a signal without a handler must
// still end a program that waits for its turn; without the time library the handlers are unknown,
// so all are blocked.
inline u64 signals_to_hold() {
  return hca_time_handled_signals ? hca_time_handled_signals() : ~u64{0};
}
// Call before reading or changing state that the HCA sees.
inline void settle() {
  if (is_simulated()) hca_time_settle();
}
inline u64 now() { return is_simulated() ? hca_time_now() : 0; }
// Call before a time-stamped message to the HCA, which may be slightly early.
inline void catch_up() {
  if (is_simulated()) hca_time_catch_up();
}
// Adds `count` times the cost of a call.
inline void spend(u64 attach::HostCosts::*cost, u64 count = 1) {
  if (is_simulated()) hca_time_spend(hca_time_costs()->*cost * count);
}
}  // namespace hca::clock

// SPDX-License-Identifier: Apache-2.0
// What the verbs library asks the library of clocks for. It is there in simulated time alone:
// without it these functions do not exist, and the calls here do nothing.
#pragma once
#include "testbench/programs/server/turns.h"

#define HCA_CLOCK extern "C" __attribute__((weak, visibility("default")))

// The program's number at the server of this socket; 0: errno says why. Its first turn has begun.
HCA_CLOCK hca::u32 hca_time_open(const char* socket, const char* device);
// Work that takes so many picoseconds: what the thread does next is so much later.
HCA_CLOCK void hca_time_spend(hca::u64 picoseconds);
// Until the simulation is where the thread is.
HCA_CLOCK void hca_time_settle();
// Until it is not far behind.
HCA_CLOCK void hca_time_catch_up();
// The time of the thread, in ps: where the simulation is, and its own work since.
HCA_CLOCK hca::u64 hca_time_now();
// What the clock of the day showed when simulated time began, in ns.
HCA_CLOCK hca::u64 hca_time_start_of_day();
// The thread polls this queue, whether it finds something or not.
HCA_CLOCK void hca_time_poll(const hca::attach::CompletionRing& ring);
// Until the HCA has written a completion, or a while has passed that grows with `times`.
HCA_CLOCK void hca_time_await_completion(hca::u32 times);
HCA_CLOCK const hca::attach::HostCosts* hca_time_costs();
// The HCA may write there from now on.
HCA_CLOCK void hca_time_may_be_written(hca::u64 address, hca::u64 bytes);
// Signals that have handlers, a bit for each from 1 on.
HCA_CLOCK hca::u64 hca_time_handled_signals();

namespace hca::clock {
inline bool is_simulated() { return hca_time_costs && hca_time_costs(); }
// Which signals to hold while no handler may run. In simulated time those without one end a program
// that waits for its turn; without it nobody knows which they are.
inline u64 signals_to_hold() {
  return hca_time_handled_signals ? hca_time_handled_signals() : ~u64{0};
}
// In front of what reads or changes what the HCA sees.
inline void settle() {
  if (is_simulated()) hca_time_settle();
}
inline u64 now() { return is_simulated() ? hca_time_now() : 0; }
// In front of what the HCA is told with the time: it may be told a little ahead.
inline void catch_up() {
  if (is_simulated()) hca_time_catch_up();
}
// `count` times what a call costs.
inline void spend(u64 attach::HostCosts::*cost, u64 count = 1) {
  if (is_simulated()) hca_time_spend(hca_time_costs()->*cost * count);
}
}  // namespace hca::clock

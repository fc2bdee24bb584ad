// SPDX-License-Identifier: Apache-2.0
// Programs of hca_verbs_clocks that are in other files, and shared declarations.
#pragma once
#include "testbench/tests/programs/verbs_library/cases/bench.h"

namespace cases {
constexpr int kTimes = 200;
double now();  // of CLOCK_MONOTONIC, in seconds
// A WRITE of 8 bytes from one end to the other. True: it succeeded.
bool write_to_peer(Bench& bench, const Pair& pair);

void use_both_devices(Bench& bench);
void fork_without_device(Bench& bench);
void poll_own_queues(Bench& bench);
void wake_by_pipes(Bench& bench);
void wait_for_events_together(Bench& bench);
void meet_at_barriers(Bench& bench);
void meet_child_at_barrier(Bench& bench);
void share_locks(Bench& bench);
void prefer_writers(Bench& bench);
void be_a_crowd(Bench& bench);
void handle_faults(Bench& bench);
void let_signals_come(Bench& bench);
void use_c11(Bench& bench);
void compute_between(Bench& bench);
void wait_in_memory(Bench& bench);
void poll_until_empty(Bench& bench);
void hand_over_by_futex(Bench& bench);
void ask_by_number(Bench& bench);
void allocate_together(Bench& bench);
void make_early_thread();
void join_early_thread(Bench& bench);
}  // namespace cases

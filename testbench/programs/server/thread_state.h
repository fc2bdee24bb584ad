// SPDX-License-Identifier: Apache-2.0
// The kernel's information about the threads of a program.
#pragma once
#include <ctime>

#include "model/proto/types.h"

namespace hca::attach {
u64 nanoseconds_of(clockid_t clock);
u64 cpu_time_of(int pid);  // processor time in ns; 0 if the process is gone
bool sleeps_in_kernel(int pid, u32 tid);
// It waits for a lock that another thread must release, and no thread of its program runs.
bool is_parked(int pid, u32 tid);
bool is_ending(int pid);
bool is_traced(int pid);  // by a debugger, which would see its signals
}  // namespace hca::attach

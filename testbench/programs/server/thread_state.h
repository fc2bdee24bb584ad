// SPDX-License-Identifier: Apache-2.0
// What the kernel says of the threads of a program.
#pragma once
#include <ctime>

#include "model/proto/types.h"

namespace hca::attach {
u64 nanoseconds_of(clockid_t clock);
u64 cpu_time_of(int pid);  // ns, of the processor; what is gone has used none
bool sleeps_in_kernel(int pid, u32 tid);
// For a lock, until another thread lets it go on, and none of its program runs.
bool is_parked(int pid, u32 tid);
bool is_ending(int pid);
bool is_traced(int pid);  // by a debugger, which would see its signals
}  // namespace hca::attach

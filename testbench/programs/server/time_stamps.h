// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hca::attach {
// In programs in simulated time the instruction that reads the time stamp counter traps. After this
// call it also traps in the calling thread: otherwise the kernel would switch the mode with each
// turn, which costs more than the rest of a turn, above all in a virtual machine. A read of the
// counter in this thread still works, and ends the trapping until the next call.
void trap_time_stamps();
// True if it traps on this machine: some hypervisors claim it, but do not trap.
bool can_trap_time_stamps();
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hca::attach {
// In programs in simulated time the instruction that reads the time stamp counter traps. From here
// on it does so in the calling thread as well: otherwise the kernel would change that with each
// turn, which costs more than all the rest of a turn, in a virtual machine above all. Who reads the
// counter here nevertheless gets it, and ends that until the next call.
void trap_time_stamps();
// Whether it does on this machine: under some hypervisors the kernel says so, and it does not.
bool can_trap_time_stamps();
}  // namespace hca::attach

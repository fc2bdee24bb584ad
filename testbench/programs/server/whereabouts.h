// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "model/proto/types.h"

namespace hca::attach {
// For a person: a thread by its number and name, and where it is: in a system call, or at this
// instruction of its program; 0: that is not known.
std::string whereabouts(int pid, u32 tid, u64 instruction);
}  // namespace hca::attach

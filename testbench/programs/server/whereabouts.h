// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "model/proto/types.h"

namespace hca::attach {
// A description for a person: a thread by number and name, and its place: a system call, or the
// instruction of its program; 0: unknown.
std::string whereabouts(int pid, u32 tid, u64 instruction);
}  // namespace hca::attach

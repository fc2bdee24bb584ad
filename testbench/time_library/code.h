// SPDX-License-Identifier: Apache-2.0
// The machine code of the program and its libraries.
#pragma once
#include <functional>

#include "model/proto/types.h"

namespace hca::time_library {
// Calls `found` with the address and length of each instruction that reads the time stamp counter
// (RDTSC, RDTSCP) in what is loaded now, the kernel's own code and this library apart. Only what
// stands where an instruction begins is one: code is read from the beginning of its function on, as
// the tables for unwinding have it.
void each_time_stamp(const std::function<void(u8* code, unsigned bytes)>& found);
// How many pieces of code have been loaded so far: more when a library came.
u64 pieces_of_code();
// Writes over code. False: the kernel does not allow it.
bool overwrite_code(u8* code, const u8* with, unsigned bytes);
}  // namespace hca::time_library

// SPDX-License-Identifier: Apache-2.0
// The machine code of the program and its libraries.
#pragma once
#include <functional>

#include "model/proto/types.h"

namespace hca::time_library {
// Where the code does by itself what functions of the C library do for others.
enum class Site : u8 {
  TimeStamp,   // RDTSC or RDTSCP
  SystemCall,  // SYSCALL
};
// Calls `found` with the address and length of each such instruction in what is loaded now. Only
// what stands where an instruction begins is one: code is read from the beginning of its function
// on, as the tables for unwinding have it. The kernel's own code and this library are left out; of
// system calls, the C library, whose functions programs call by name, too. Of code that no table
// tells of, Go's say, a system call is found where its number stands before it and is_timed().
using FoundSite = std::function<void(u8* code, unsigned bytes)>;
void each_site(Site site, const FoundSite& found);
// How many pieces of code have been loaded so far: more when a library came.
u64 pieces_of_code();
// Writes a byte of code, which other threads may execute meanwhile. False: the kernel does not
// allow it.
bool overwrite_code(u8* code, u8 with);

// Where the kernel's own code lies in the memory of the program; 0: there is none.
u64 kernel_code();
}  // namespace hca::time_library

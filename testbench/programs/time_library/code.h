// SPDX-License-Identifier: Apache-2.0
// The machine code of the program and its libraries.
#pragma once
#include <functional>

#include "model/proto/types.h"

namespace hca::time_library {
// Places where the program executes directly what other programs do by a C library function.
enum class Site : u8 {
  TimeStamp,   // RDTSC or RDTSCP
  SystemCall,  // SYSCALL
};
// Calls `found` with the address and length of each such instruction in the loaded code. Only bytes
// at an instruction boundary count: code is decoded from the beginning of its function, using the
// unwind tables. The kernel's code and this library are excluded; for system calls also the C
// library, whose functions are intercepted by name. In code without tables (Go, for example) a
// system call is found if its number is loaded before it and is_timed().
using FoundSite = std::function<void(u8* code, unsigned bytes)>;
void each_site(Site site, const FoundSite& found);
// The number of code segments loaded so far; it grows when a library is loaded.
u64 pieces_of_code();
// Writes a byte of code, which other threads may be executing. False: the kernel does not allow it.
bool overwrite_code(u8* code, u8 with);

// The address of the kernel's code in the program's memory; 0: none.
u64 kernel_code();
}  // namespace hca::time_library

// SPDX-License-Identifier: Apache-2.0
// A library whose code no table for unwinding tells of, like that of Go: it is linked without one.
// Each system call has its number right before it.
#include <sys/syscall.h>

#include "testbench/tests/programs/time_library/without_tables.h"

namespace cases {
namespace {
template <long kNumber>
long call(long a, long b, long c, long d) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = 0;
  register long r9 asm("r9") = 0;
  long result;
  asm volatile("mov %[number], %%eax; syscall"
               : "=&a"(result)
               : [number] "i"(kNumber), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
}  // namespace

long by_code_without_tables(long number, long a, long b, long c, long d) {
  switch (number) {
    case SYS_futex:
      return call<SYS_futex>(a, b, c, d);
    case SYS_nanosleep:
      return call<SYS_nanosleep>(a, b, c, d);
    case SYS_clock_gettime:
      return call<SYS_clock_gettime>(a, b, c, d);
    case SYS_getpid:
      return call<SYS_getpid>(a, b, c, d);
    default:
      return -1;
  }
}
}  // namespace cases

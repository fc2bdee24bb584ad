// SPDX-License-Identifier: Apache-2.0
// A system call that bypasses all libraries: even syscall() of the C library may be replaced.
#pragma once
#include <cerrno>
#include <type_traits>

namespace hca::attach {
// The raw result of the kernel: from -4095 on an error.
inline long ask_kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                       long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  // The prefix has no effect; it marks the instruction as ours for the time library.
  asm volatile(".byte 0x3e; syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}
// As syscall() returns it, with errno.
inline long returned(long result) {
  constexpr long kLastError = -4095;
  if (result >= kLastError && result < 0) return errno = int(-result), -1;
  return result;
}
// Accepts integers and pointers.
template <class Argument>
long word_of(Argument argument) {
  if constexpr (std::is_pointer_v<Argument>)
    return reinterpret_cast<long>(argument);
  else if constexpr (std::is_null_pointer_v<Argument>)
    return 0;
  else
    return static_cast<long>(argument);
}
template <class... Arguments>
long kernel_call(long number, Arguments... arguments) {
  return returned(ask_kernel(number, word_of(arguments)...));
}
}  // namespace hca::attach

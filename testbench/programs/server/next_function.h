// SPDX-License-Identifier: Apache-2.0
// The next definition of a function after this library. The test of turns
// (testbench/tests/programs/time_library/turns) has its own version of this file, in which kernel
// waits become waits for an explorer.
#pragma once
#include <dlfcn.h>

namespace hca::attach {
inline void* find_next(const char* name) { return dlsym(RTLD_NEXT, name); }
}  // namespace hca::attach

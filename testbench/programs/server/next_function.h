// SPDX-License-Identifier: Apache-2.0
// The function of a name after this library. The test of turns
// (testbench/tests/programs/time_library/turns) has another file of this name, where what waits in
// the kernel waits for an explorer.
#pragma once
#include <dlfcn.h>

namespace hca::attach {
inline void* find_next(const char* name) { return dlsym(RTLD_NEXT, name); }
}  // namespace hca::attach

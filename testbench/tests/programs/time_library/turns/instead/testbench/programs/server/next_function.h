// SPDX-License-Identifier: Apache-2.0
// Replaces the file of this name: calls that may wait in the kernel wait for the explorer.
#pragma once
#include <dlfcn.h>

namespace hca::explored {
void* call_instead(const char* name);  // nullptr: the C library's
}
namespace hca::attach {
inline void* find_next(const char* name) {
  void* const instead = explored::call_instead(name);
  return instead ? instead : dlsym(RTLD_NEXT, name);
}
}  // namespace hca::attach

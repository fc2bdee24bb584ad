// SPDX-License-Identifier: Apache-2.0
// Between the files of the library.
#pragma once
#include <dlfcn.h>

#include <atomic>

#include "testbench/files_library/place.h"

// A function of the C library that programs find here first.
#define HCA_INSTEAD extern "C" __attribute__((visibility("default")))

namespace hca::files_library {
// The function of this name behind this library. Without a guard, which an allocator that calls
// from inside of one would wait for.
template <class Function>
Function* next(std::atomic<void*>& found, const char* name) {
  void* function = found.load(std::memory_order_relaxed);
  if (!function) found = function = dlsym(RTLD_NEXT, name);
  return reinterpret_cast<Function*>(function);
}
#define HCA_NEXT(name)                                                 \
  ([]() {                                                              \
    static constinit std::atomic<void*> slot_{nullptr};                \
    return ::hca::files_library::next<decltype(::name)>(slot_, #name); \
  }())
}  // namespace hca::files_library

// SPDX-License-Identifier: Apache-2.0
// Tools for a library that is searched before the C library. An allocator may call it from inside
// itself: nothing here allocates memory, or uses a static-initialisation guard.
#pragma once
#include <atomic>

#include "testbench/programs/server/next_function.h"

// Defines a function that replaces one of the C library.
#define HCA_INSTEAD extern "C" __attribute__((visibility("default")))

namespace hca::attach {
// The next definition of this function after this library.
template <class Function>
Function* next(std::atomic<void*>& found, const char* name) {
  void* function = found.load(std::memory_order_relaxed);
  if (!function) found = function = find_next(name);
  return reinterpret_cast<Function*>(function);
}
#define HCA_NEXT(name)                                          \
  ([]() {                                                       \
    static constinit std::atomic<void*> slot_{nullptr};         \
    return ::hca::attach::next<decltype(::name)>(slot_, #name); \
  }())

// An object that exists before the first call and after the last one: threads may call until the
// process ends. `static constinit Kept<T> x;`
template <class T>
union Kept {
  T value;
  constexpr Kept() : value() {}
  constexpr ~Kept() {}
};
}  // namespace hca::attach

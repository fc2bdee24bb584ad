// SPDX-License-Identifier: Apache-2.0
// What a library that programs find before the C library needs. An allocator may call it from
// inside of itself: nothing here asks for memory, or takes a guard.
#pragma once
#include <atomic>

#include "testbench/programs/server/next_function.h"

// A function of the C library that programs find here first.
#define HCA_INSTEAD extern "C" __attribute__((visibility("default")))

namespace hca::attach {
// The function of this name after this library.
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

// An object that is there before the first call and after the last one: threads may call until the
// program is gone. `static constinit Kept<T> x;`
template <class T>
union Kept {
  T value;
  constexpr Kept() : value() {}
  constexpr ~Kept() {}
};
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "model/proto/types.h"

namespace hca::engine {
using Cycle = u64;
inline constexpr Cycle kNever = ~Cycle{0};

// Reports a broken invariant of the model itself: always on, names cycle, block and, if one is
// involved, the link or budget; never returns.
[[noreturn, gnu::cold, gnu::noinline]] inline void broken(const char* what, const char* block,
                                                          Cycle at, const char* object = nullptr) {
  std::fprintf(stderr, "cycle %llu, block %s%s%s: %s\n", static_cast<unsigned long long>(at), block,
               object ? ", " : "", object ? object : "", what);
  std::abort();
}

// The lowest set bit of a mask, which must not be 0.
[[gnu::always_inline]] constexpr u64 lowest_bit(u64 mask) {
#if defined(__x86_64__) && !defined(__clang__)
  // Without this, g++ sign-extends a never negative number in each loop over a mask.
  if (!std::is_constant_evaluated()) {
    u64 bit;
    asm("rep bsfq %1, %0" : "=r"(bit) : "r"(mask) : "cc");
    return bit;
  }
#endif
  return u64(__builtin_ctzll(mask));
}
}  // namespace hca::engine

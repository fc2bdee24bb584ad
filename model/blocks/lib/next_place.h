// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "model/proto/types.h"

namespace hca::blocks {
// Round-robin choice: the first set bit of `set` after `place`, wrapping around to `place` itself.
// At least one bit is set.
constexpr unsigned next_place(u32 set, unsigned place) {
  const u32 behind = set & ~((2u << place) - 1);
  return unsigned(std::countr_zero(behind ? behind : set));
}
}  // namespace hca::blocks

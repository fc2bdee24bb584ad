// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "model/proto/types.h"

namespace hca::blocks {
// Of the places whose bits are set, one at least, the one that comes next behind `place` in
// rotation: those behind it, those in front of it, itself.
constexpr unsigned next_place(u32 set, unsigned place) {
  const u32 behind = set & ~((2u << place) - 1);
  return unsigned(std::countr_zero(behind ? behind : set));
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <optional>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// A set of the numbers below a limit. Finds the next one without looking at those between: each bit
// of a level says whether a word of the level below has any.
class IndexSet {
 public:
  explicit IndexSet(u32 limit) {
    do {
      limit = (limit + kBits - 1) / kBits;
      levels_.emplace_back(limit);
    } while (limit > 1);
  }
  void set(u32 i, bool is_in) { is_in ? insert(i) : erase(i); }
  bool has(u32 i) const { return levels_[0][i / kBits] >> i % kBits & 1; }
  // The smallest one from `i` on, or otherwise the smallest.
  std::optional<u32> next(u32 i) const {
    const std::optional<u32> found = from(i);
    return found || !i ? found : from(0);
  }

 private:
  static constexpr u32 kBits = 64;
  void insert(u32 i) {
    for (std::vector<u64>& level : levels_) {
      level[i / kBits] |= u64{1} << i % kBits;
      i /= kBits;
    }
  }
  void erase(u32 i) {
    for (std::vector<u64>& level : levels_) {
      if (level[i / kBits] &= ~(u64{1} << i % kBits)) return;
      i /= kBits;
    }
  }
  // Up to a level that has one behind it, and down to that one.
  std::optional<u32> from(u32 i) const {
    for (std::size_t up = 0; up < levels_.size(); ++up, i = i / kBits + 1) {
      if (i / kBits >= levels_[up].size()) return std::nullopt;
      const u64 rest = levels_[up][i / kBits] >> i % kBits;
      if (!rest) continue;
      i += u32(std::countr_zero(rest));
      while (up--) i = i * kBits + u32(std::countr_zero(levels_[up][i]));
      return i;
    }
    return std::nullopt;
  }
  std::vector<std::vector<u64>> levels_;
};
}  // namespace hca::testbench

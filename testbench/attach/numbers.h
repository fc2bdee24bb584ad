// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "model/proto/types.h"

namespace hca::attach {
// How soon a number that was given back comes again. An HCA keeps something for each number that
// was ever used; in a capture the frames of two queue pairs with one number would look like one's.
enum class Reuse : u8 { Soon, Late };  // after 32 others or more; after all others

// Numbers, each taken once at a time.
class Numbers {
 public:
  Numbers(u32 first, u32 end, Reuse reuse = Reuse::Soon)
      : first_(first), end_(std::max(first, end)), next_(first), reuse_(reuse) {}
  // Nothing: all are taken.
  std::optional<u32> take() {
    constexpr u64 kBetween = 32;
    const u64 wanted = std::bit_ceil(2 * u64{taken_.size()} + kBetween);
    const u32 end =
        reuse_ == Reuse::Late ? end_ : first_ + u32(std::min<u64>(wanted, end_ - first_));
    if (next_ >= end) next_ = first_;
    for (u32 looked = 0; looked < end - first_; ++looked) {
      const u32 number = next_;
      next_ = next_ + 1 == end ? first_ : next_ + 1;
      if (taken_.insert(number).second) return number;
    }
    return std::nullopt;
  }
  void give_back(u32 number) { taken_.erase(number); }

 private:
  u32 first_, end_, next_;
  Reuse reuse_;
  std::set<u32> taken_;
};
}  // namespace hca::attach

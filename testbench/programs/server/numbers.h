// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

#include "model/proto/types.h"

namespace hca::attach {
// How soon a released number is used again. An HCA keeps state for each number that was ever used;
// in a capture, two queue pairs with the same number would look like one.
enum class Reuse : u8 {
  Soon,
  Late
};  // after 32 others have been released; only when no unused number is left

// Allocates unique numbers. Released numbers are reused in the order of their release.
class Numbers {
 public:
  Numbers(u32 first, u32 end, Reuse reuse = Reuse::Soon)
      : next_(first), end_(std::max(first, end)), reuse_(reuse) {}
  // Empty: all are in use.
  std::optional<u32> take() {
    const bool reuses = next_ == end_ || (reuse_ == Reuse::Soon && returned_.size() > kBetween);
    if (!reuses) return next_++;
    if (returned_.empty()) return std::nullopt;
    const u32 number = returned_.front();
    returned_.pop_front();
    return number;
  }
  // Releases a number in use.
  void give_back(u32 number) { returned_.push_back(number); }

 private:
  static constexpr std::size_t kBetween = 32;
  u32 next_, end_;  // never used so far
  Reuse reuse_;
  std::deque<u32> returned_;
};
}  // namespace hca::attach

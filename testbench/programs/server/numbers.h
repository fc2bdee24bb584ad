// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <deque>
#include <optional>

#include "model/proto/types.h"

namespace hca::attach {
// How soon a number that was given back comes again. An HCA keeps something for each number that
// was ever used; in a capture the frames of two queue pairs with one number would look like one's.
enum class Reuse : u8 {
  Soon,
  Late
};  // when 32 others have come after it; when none is left unused

// Numbers, each taken once at a time. Those that were given back come again in that order.
class Numbers {
 public:
  Numbers(u32 first, u32 end, Reuse reuse = Reuse::Soon)
      : next_(first), end_(std::max(first, end)), reuse_(reuse) {}
  // Nothing: all are taken.
  std::optional<u32> take() {
    const bool reuses = next_ == end_ || (reuse_ == Reuse::Soon && returned_.size() > kBetween);
    if (!reuses) return next_++;
    if (returned_.empty()) return std::nullopt;
    const u32 number = returned_.front();
    returned_.pop_front();
    return number;
  }
  // One that is taken.
  void give_back(u32 number) { returned_.push_back(number); }

 private:
  static constexpr std::size_t kBetween = 32;
  u32 next_, end_;  // that were never taken
  Reuse reuse_;
  std::deque<u32> returned_;
};
}  // namespace hca::attach

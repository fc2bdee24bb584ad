// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <set>

#include "model/proto/types.h"

namespace hca::attach {
// Numbers, each taken once at a time: one that was given back comes again after all others.
class Numbers {
 public:
  Numbers(u32 first, u32 end) : first_(first), end_(std::max(first, end)), next_(first) {}
  // Nothing: all are taken.
  std::optional<u32> take() {
    for (u32 looked = 0; looked < end_ - first_; ++looked) {
      const u32 number = next_;
      next_ = next_ + 1 == end_ ? first_ : next_ + 1;
      if (taken_.insert(number).second) return number;
    }
    return std::nullopt;
  }
  void give_back(u32 number) { taken_.erase(number); }

 private:
  u32 first_, end_, next_;
  std::set<u32> taken_;
};
}  // namespace hca::attach

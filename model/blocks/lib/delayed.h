// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"

namespace hca::blocks {
using engine::Cycle;

// A count that one block writes and another reads: an increment in cycle n is visible from n + 1
// on.
class Delayed {
 public:
  void add(Cycle now) {
    if (at_ != now) {
      before_ = value_;
      at_ = now;
    }
    ++value_;
  }
  u32 seen(Cycle now) const { return at_ < now ? value_ : before_; }
  void reset() { value_ = before_ = 0; }

 private:
  u32 value_ = 0, before_ = 0;
  Cycle at_ = 0;
};
}  // namespace hca::blocks

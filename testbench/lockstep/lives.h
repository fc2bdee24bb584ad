// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"
#include "model/engine/random.h"

namespace hca::testbench {
// How long an RTL block goes on until a reset comes: mostly short, that resets find it in all its
// states; each 256th time long, that what shows late shows too.
class Lives {
 public:
  // `every`: what one in eight is at most twice as long as; 0: no reset ever comes.
  explicit Lives(engine::Cycle every) : every_(every) {}
  engine::Cycle next(engine::Random& random) {
    if (!every_) return engine::kNever;
    if (++count_ % 256 == 0) return 64 * every_;
    return 1 + random.below(random.chance(1, 8) ? 2 * every_ : 1 + every_ / 16);
  }

 private:
  engine::Cycle every_;
  u64 count_ = 0;
};
}  // namespace hca::testbench

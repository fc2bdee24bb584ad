// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"
#include "model/engine/random.h"

namespace hca::testbench {
// Cycles until the next reset of an RTL block: mostly few, so that resets find it in all its
// states; each 256th time many, so that late errors show as well.
class Lives {
 public:
  // `every`: one life in eight is up to twice this long; 0: no resets.
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

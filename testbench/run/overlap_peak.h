// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::testbench {
// The largest number of units that are in use at the same time, from the intervals of their use.
// These come in any order, but none before the cycle up to which the caller has passed on.
class OverlapPeak {
 public:
  // `units` from cycle `from` on, until `to`.
  void add(engine::Cycle from, engine::Cycle to, std::int64_t units) {
    from = std::max(from, passed_);
    if (to <= from) return;
    changes_.push({from, units});
    changes_.push({to, -units});
  }
  // No later interval begins before `now`: what is known of earlier cycles is complete.
  void pass_until(engine::Cycle now) {
    while (!changes_.empty() && changes_.top().first < now) {
      const engine::Cycle at = changes_.top().first;
      for (; !changes_.empty() && changes_.top().first == at; changes_.pop())
        used_ += changes_.top().second;
      most_ = std::max(most_, used_);
    }
    passed_ = std::max(passed_, now);
  }
  // The most from now on begins with what is in use.
  void begin() { most_ = used_; }
  std::int64_t most() const { return most_; }

 private:
  using Change = std::pair<engine::Cycle, std::int64_t>;
  std::priority_queue<Change, std::vector<Change>, std::greater<>> changes_;
  engine::Cycle passed_ = 0;
  std::int64_t used_ = 0, most_ = 0;
};
}  // namespace hca::testbench

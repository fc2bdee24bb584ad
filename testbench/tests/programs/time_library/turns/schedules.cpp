// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/programs/time_library/turns/schedules.h"

#include <algorithm>

namespace hca::explored {
RandomSchedule::RandomSchedule(u64 seed, u64 steps) : random_(seed), often_(seed % 4 == 3) {
  for (u64& change : changes_) change = random_.below(std::max<u64>(steps, 1));
}
unsigned RandomSchedule::choose(unsigned options, bool may_stay) {
  constexpr u64 kOneIn = 6;
  ++step_;
  if (!may_stay) return unsigned(random_.below(options));
  const bool changes =
      often_ ? random_.below(kOneIn) == 0 : std::ranges::find(changes_, step_) != changes_.end();
  return changes ? 1 + unsigned(random_.below(options - 1)) : 0;
}

unsigned BoundedSchedules::choose(unsigned options, bool may_stay) {
  if (!left_) return 0;
  if (step_ == path_.size()) path_.push_back({0, options, may_stay});
  const Choice& here = path_[step_++];
  if (here.options != options || here.may_stay != may_stay)
    fault("the same schedule is another: something else than the explorer decides");
  if (here.chosen) --left_;
  return here.chosen;
}
bool BoundedSchedules::next() {
  step_ = 0, left_ = most_;
  while (!path_.empty() && path_.back().chosen + 1 == path_.back().options) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().chosen;
  return true;
}
}  // namespace hca::explored

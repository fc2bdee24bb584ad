// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/engine/random.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"

namespace hca::explored {
// Switches to another thread a few times, at random steps; every fourth schedule switches often.
class RandomSchedule final : public Schedule {
 public:
  // `steps`: the expected number of steps.
  RandomSchedule(u64 seed, u64 steps);
  unsigned choose(unsigned options, bool may_stay) override;

 private:
  static constexpr unsigned kMost = 4;
  engine::Random random_;
  std::array<u64, kMost> changes_{};
  bool often_;
  u64 step_ = 0;
};

// Enumerates all schedules with a limited number of deviations from the plain one, in which a
// thread runs as long as it can, followed by the first runnable one.
class BoundedSchedules final : public Schedule {
 public:
  explicit BoundedSchedules(unsigned most) : most_(most) {}
  unsigned choose(unsigned options, bool may_stay) override;
  bool next();  // false: no schedule is left

 private:
  struct Choice {
    unsigned chosen, options;
    bool may_stay;
  };
  const unsigned most_;
  unsigned left_ = most_;
  std::size_t step_ = 0;
  std::vector<Choice> path_;
};
}  // namespace hca::explored

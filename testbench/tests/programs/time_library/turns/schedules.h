// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/engine/random.h"
#include "testbench/tests/programs/time_library/turns/explorer.h"

namespace hca::explored {
// A few times, at steps drawn by chance, another thread goes on; each fourth schedule changes
// often.
class RandomSchedule final : public Schedule {
 public:
  // `steps`: about so many there will be.
  RandomSchedule(u64 seed, u64 steps);
  unsigned choose(unsigned options, bool may_stay) override;

 private:
  static constexpr unsigned kMost = 4;
  engine::Random random_;
  std::array<u64, kMost> changes_{};
  bool often_;
  u64 step_ = 0;
};

// One after the other all that differ at most so often from the plain one: a thread goes on as long
// as it can, and then the first that can.
class BoundedSchedules final : public Schedule {
 public:
  explicit BoundedSchedules(unsigned most) : most_(most) {}
  unsigned choose(unsigned options, bool may_stay) override;
  bool next();  // false: those were all

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

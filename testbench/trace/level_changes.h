// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <vector>

#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// Follows the fill level of each link, budget and mailbox of all chips. A level is the one after
// the last block of its cycle: mail counts from the cycle in which it is due, room of a budget
// until the cycle in which it is returned. It only observes.
class LevelChanges {
 public:
  // `watched`: the place in the list of the chip's domain. The changes of one object come in order.
  using Sink = std::function<void(unsigned chip, std::size_t watched, u64 picoseconds, u64 value)>;
  // `looked`: called after each cycle of a chip.
  LevelChanges(Testbed& testbed, Sink sink, std::function<void()> looked);
  ~LevelChanges();
  LevelChanges(const LevelChanges&) = delete;
  // Passes on what is known until the kernel's time, of chips that sleep as well. Returns the time
  // before which no more changes come, ps.
  u64 catch_up();
  // At the end of the run: all that is known.
  void finish();

 private:
  struct Chip {
    LevelChanges* owner = nullptr;
    unsigned number = 0;
    engine::Domain* domain = nullptr;
    u64 period = 0;
    std::vector<u64> values;
    Cycle seen = 0;  // all changes up to this cycle are passed on
    u64 time_of(Cycle at) const { return at * period; }
  };
  // Changes before cycle `to` in cycles in which no block ran.
  void catch_up(Chip& chip, Cycle to);
  void sample(Chip& chip, Cycle at);

  Sink sink_;
  std::function<void()> looked_;
  std::deque<Chip> chips_;  // by node
  std::vector<engine::LevelChange> found_;
};
}  // namespace hca::testbench

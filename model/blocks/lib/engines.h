// SPDX-License-Identifier: Apache-2.0
// Parallel processing engines of one block. Each engine has its own queue pairs, so it keeps the
// order within a queue pair.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "model/engine/cycle.h"
#include "model/engine/knob.h"
#include "model/engine/random.h"
#include "model/proto/types.h"

namespace hca::blocks {
using engine::Cycle;

enum class EngineAssignment : u8 { Modulo, Hash };
inline constexpr std::array<std::string_view, 2> kEngineAssignmentNames{"modulo", "hash"};

class Engines {
 public:
  static constexpr u32 kMost = 16;
  // Each engine takes at most one item every `interval` cycles.
  Engines(u32 count, Cycle interval, EngineAssignment assignment)
      : limit_(limits(count, interval)),
        interval_(interval),
        assignment_(assignment),
        each_(count) {}

  // False: a single engine that can take an item in each cycle limits nothing; skip the checks.
  bool limit() const { return limit_; }
  static bool limits(u32 count, Cycle interval) { return count > 1 || interval > 1; }
  unsigned count() const { return unsigned(each_.size()); }
  // modulo: queue pairs with consecutive numbers use different engines; hash: pseudo-random.
  unsigned of(u32 qpn) const {
    u64 number = qpn;
    if (assignment_ == EngineAssignment::Hash) number = engine::split_mix(number);
    return unsigned(number % each_.size());
  }
  Cycle free_from(unsigned engine) const { return each_[engine].free_from; }
  void take(unsigned engine, Cycle now) {
    each_[engine].free_from = now + interval_;
    ++each_[engine].items;
  }
  // Busy cycles of an engine, including those still ahead for items it has taken.
  Cycle worked(unsigned engine) const { return each_[engine].items * interval_; }

 private:
  struct Each {
    Cycle free_from = 0;
    u64 items = 0;
  };
  bool limit_;
  Cycle interval_;
  EngineAssignment assignment_;
  std::vector<Each> each_;
};

// The knobs of a block with engines. `items`: the word for the items that they take.
template <class C>
constexpr auto engine_rows(std::string_view items) {
  using engine::knob;
  using engine::Unit;
  return make_rows(
      knob("engines", &C::engines, Unit::Count, 1, Engines::kMost,
           "parallel processing engines, each with its own queue pairs"),
      knob("engine_interval", &C::engine_interval, Unit::Cycles, 1, 100'000, items),
      knob("assignment", &C::assignment, kEngineAssignmentNames,
           "how a queue pair selects its engine: its number modulo engines, or a hash of it"));
}
}  // namespace hca::blocks

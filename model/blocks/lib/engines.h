// SPDX-License-Identifier: Apache-2.0
// Processing engines that work side by side in one block, each on queue pairs of its own: the order
// within a queue pair is that of its engine.
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
  // Each takes an item every `interval` cycles at most.
  Engines(u32 count, Cycle interval, EngineAssignment assignment)
      : limit_(limits(count, interval)),
        interval_(interval),
        assignment_(assignment),
        each_(count) {}

  // One engine that could take an item in each cycle limits nothing: its block need not ask.
  bool limit() const { return limit_; }
  static bool limits(u32 count, Cycle interval) { return count > 1 || interval > 1; }
  unsigned count() const { return unsigned(each_.size()); }
  // modulo: queue pairs with consecutive numbers are on different engines; hash: as chance has it.
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
  // Cycles in which it has worked, or will for what it took.
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

// The knobs of a block that has engines. `items`: what they take.
template <class C>
constexpr auto engine_rows(std::string_view items) {
  using engine::knob;
  using engine::Unit;
  return make_rows(
      knob("engines", &C::engines, Unit::Count, 1, Engines::kMost,
           "that work side by side, each on queue pairs of its own"),
      knob("engine_interval", &C::engine_interval, Unit::Cycles, 1, 100'000, items),
      knob("assignment", &C::assignment, kEngineAssignmentNames,
           "which engine a queue pair has: its number modulo engines, or a hash of it"));
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::testbench {
// Numbers of units by cycle, the earliest first. Nearly all are added behind the others.
class UnitsByCycle {
 public:
  // The first cycle with units; kNever: none.
  engine::Cycle next() const { return head_ == tail_ ? engine::kNever : at(head_).cycle; }
  void add(engine::Cycle cycle, std::int64_t units) {
    if (tail_ - head_ == ring_.size()) [[unlikely]]
      grow();
    std::size_t place = tail_++;
    for (; place != head_ && at(place - 1).cycle > cycle; --place) at(place) = at(place - 1);
    at(place) = {cycle, units};
  }
  // Removes the units of this cycle.
  std::int64_t take(engine::Cycle cycle) {
    std::int64_t units = 0;
    for (; next() == cycle; ++head_) units += at(head_).units;
    return units;
  }

 private:
  struct Units {
    engine::Cycle cycle;
    std::int64_t units;
  };
  Units& at(std::size_t i) { return ring_[i & (ring_.size() - 1)]; }
  const Units& at(std::size_t i) const { return ring_[i & (ring_.size() - 1)]; }
  void grow() {
    std::rotate(ring_.begin(), ring_.begin() + std::ptrdiff_t(head_ & (ring_.size() - 1)),
                ring_.end());
    head_ = 0, tail_ = ring_.size();
    ring_.resize(ring_.size() * 2);
  }
  std::vector<Units> ring_ = std::vector<Units>(16);  // a power of two
  std::size_t head_ = 0, tail_ = 0;
};

// The largest number of units that are in use at the same time, from the intervals of their use.
// These come in any order, but none before the cycle up to which the caller has passed on.
class OverlapPeak {
 public:
  // `units` from cycle `from` on, until `to`.
  void add(engine::Cycle from, engine::Cycle to, std::int64_t units) {
    from = std::max(from, passed_);
    if (to <= from) return;
    begins_.add(from, units);
    ends_.add(to, units);
  }
  // No later interval begins before `now`: what is known of earlier cycles is complete.
  void pass_until(engine::Cycle now) {
    for (engine::Cycle at; (at = std::min(begins_.next(), ends_.next())) < now;) {
      used_ += begins_.take(at) - ends_.take(at);
      most_ = std::max(most_, used_);
    }
    passed_ = std::max(passed_, now);
  }
  // The most from now on begins with what is in use.
  void begin() { most_ = used_; }
  std::int64_t most() const { return most_; }

 private:
  UnitsByCycle begins_, ends_;
  engine::Cycle passed_ = 0;
  std::int64_t used_ = 0, most_ = 0;
};
}  // namespace hca::testbench

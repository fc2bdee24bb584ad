// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::tlm_ {
// The sender's flow-control credits of one type, or its read tags: a fixed number, each taken until
// a known cycle. No events: take() returns the cycle from which all requested credits are available.
class PcieCredits {
 public:
  using Cycle = engine::Cycle;
  explicit PcieCredits(u32 all) : all_(all), free_(all) {}
  u32 all() const { return all_; }  // 0: unlimited
  // The first cycle in which `n` credits are available; 0: they were never taken. `n` is at most
  // all(); TLPs call in the order in which they leave.
  Cycle take(u32 n) {
    Cycle at = 0;
    if (!all_) return at;
    for (; free_ < n; ++head_) {
      const Back& back = slot(head_);
      at = std::max(at, back.at);
      free_ += back.credits;
    }
    free_ -= n;
    return at;
  }
  // `n` of the taken credits are in use from cycle `from`, that of take() or a later one, until they
  // return in cycle `at`.
  void give(Cycle from, Cycle at, u32 n) {
    if (!all_) return;
    if (keeps_most_) [[unlikely]]
      return give_counted(from, at, n);
    put(at, n);
  }
  // Keeps how many are in use at the same time at most: at first those of cycle `now`.
  void begin_most(Cycle now) {
    if (!keeps_most_) keeps_most_ = true, over_ = head_, used_ = all_ - free_;
    pass_until(now);
    most_ = used_;
  }
  // Since then. A TLP that takes its credits earlier than the one before (a completion that
  // overtakes: completion_order) counts from that cycle on.
  u32 most() const { return most_; }

 private:
  struct Back {
    Cycle at = 0;
    u32 credits = 0;
  };
  Back& slot(u32 i) { return back_[i & mask_]; }
  void put(Cycle at, u32 n) {
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    // Nearly always the last one.
    u32 place = tail_++;
    for (; place != head_ && slot(place - 1).at > at; --place) slot(place) = slot(place - 1);
    slot(place) = {at, n};
  }
  [[gnu::noinline]] void give_counted(Cycle from, Cycle at, u32 n) {
    pass_until(from);
    put(at, n);
    if (at <= passed_) return void(++over_);  // it lies before those in use
    used_ += n;
    most_ = std::max(most_, used_);
  }
  // Credits that return until cycle `now` are not in use any more.
  void pass_until(Cycle now) {
    passed_ = std::max(passed_, now);
    for (; over_ != tail_ && slot(over_).at <= passed_; ++over_) used_ -= slot(over_).credits;
  }
  [[gnu::cold, gnu::noinline]] void grow() {
    std::rotate(back_.begin(), back_.begin() + (head_ & mask_), back_.end());
    over_ -= head_;
    head_ = 0;
    tail_ = u32(back_.size());
    back_.resize(back_.size() * 2);
    mask_ = u32(back_.size()) - 1;
  }
  u32 all_, free_;
  u32 mask_ = 15;
  std::vector<Back> back_ = std::vector<Back>(mask_ + 1);  // a ring, earliest first
  u32 head_ = 0, tail_ = 0;
  bool keeps_most_ = false;
  u32 over_ = 0;  // the first one in back_ that returns after passed_
  Cycle passed_ = 0;
  u32 used_ = 0, most_ = 0;  // used_: in passed_
};

// The credits of one kind of TLP: one for its header, one for each 16 bytes of payload.
struct PcieCreditPair {
  PcieCredits headers, data;
  static constexpr u32 kBytes = 16;
  static constexpr u32 of(u32 bytes) { return (bytes + kBytes - 1) / kBytes; }
};
}  // namespace hca::tlm_

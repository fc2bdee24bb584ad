// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::tlm_ {
// The sender's flow-control credits of one type: a fixed number, each taken until a known cycle. No
// events: take() returns the cycle from which all requested credits are available.
class PcieCredits {
 public:
  explicit PcieCredits(u32 all) : all_(all), free_(all) {}
  u32 all() const { return all_; }  // 0: unlimited
  // The first cycle in which `n` credits are available; 0: they were never taken. `n` is at most
  // all(); TLPs call in the order in which they leave.
  engine::Cycle take(u32 n) {
    engine::Cycle at = 0;
    if (!all_) return at;
    for (; free_ < n; ++head_) {
      const Back& back = back_[head_ & mask()];
      at = std::max(at, back.at);
      free_ += back.credits;
    }
    free_ -= n;
    return at;
  }
  // `n` of the taken credits return in cycle `at`.
  void give(engine::Cycle at, u32 n) {
    if (!all_) return;
    if (tail_ - head_ == back_.size()) grow();
    // Nearly always the last one.
    u32 place = tail_++;
    for (; place != head_ && back_[(place - 1) & mask()].at > at; --place)
      back_[place & mask()] = back_[(place - 1) & mask()];
    back_[place & mask()] = {at, n};
  }

 private:
  struct Back {
    engine::Cycle at = 0;
    u32 credits = 0;
  };
  u32 mask() const { return u32(back_.size()) - 1; }
  void grow() {
    std::rotate(back_.begin(), back_.begin() + (head_ & mask()), back_.end());
    head_ = 0;
    tail_ = u32(back_.size());
    back_.resize(back_.size() * 2);
  }
  u32 all_, free_;
  std::vector<Back> back_ = std::vector<Back>(16);  // a ring, earliest first; a power of two
  u32 head_ = 0, tail_ = 0;
};

// The credits of one kind of TLP: one for its header, one for each 16 bytes of payload.
struct PcieCreditPair {
  PcieCredits headers, data;
  static constexpr u32 kBytes = 16;
  static constexpr u32 of(u32 bytes) { return (bytes + kBytes - 1) / kBytes; }
  void give(engine::Cycle at, u32 bytes) {
    headers.give(at, 1);
    data.give(at, of(bytes));
  }
};
}  // namespace hca::tlm_

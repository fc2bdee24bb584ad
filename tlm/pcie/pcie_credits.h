// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
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
    for (; free_ < n; back_.pop()) {
      at = std::max(at, back_.top().first);
      free_ += back_.top().second;
    }
    free_ -= n;
    return at;
  }
  // `n` of the taken credits return in cycle `at`.
  void give(engine::Cycle at, u32 n) {
    if (all_) back_.emplace(at, n);
  }

 private:
  using Back = std::pair<engine::Cycle, u32>;
  u32 all_, free_;
  std::priority_queue<Back, std::vector<Back>, std::greater<>> back_;  // earliest first
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

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/cycle.h"
#include "model/engine/random.h"

namespace hca::testbench {
// The cycles in which the receiver after a block stalls: single ones, long stretches, and long
// stretches with single cycles without a stall; a function of the cycle.
class Stalls {
 public:
  Stalls(u64 seed, u32 percent) : seed_(seed), percent_(percent) {}
  bool operator()(engine::Cycle at) const {
    if (percent_ && hash(~(at >> 10) ^ 1) % 8 == 0) return hash(at) % 20;
    return hash(at) % 100 < percent_ || hash(~(at >> 6)) % 200 < percent_;
  }

 private:
  u64 hash(u64 x) const {
    u64 state = seed_ ^ x * 0x2545f4914f6cdd1du;
    return engine::split_mix(state) >> 8;
  }
  u64 seed_;
  u32 percent_;
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/random.h"
#include "model/engine/rate.h"

namespace hca::testbench {
// -ln(u / 2^64) in units of 2^-32, rounded down; u > 0. Only integers, so that it is the same on
// every machine.
u64 minus_log(u64 u);

// The schedule of an open loop, independent of the network: evenly spaced, or a Poisson process.
// Times are in picoseconds from the start; an even stream loses no fraction.
class Arrivals {
 public:
  // A message takes `picoseconds` / `per` of the time of the stream.
  Arrivals(bool exponential, u64 seed) : exponential_(exponential), random_(seed) {}
  u64 next() const { return next_; }
  // Advances to the next message; the mean distance is `picoseconds` / `per`.
  void advance(engine::u128 picoseconds, u64 per);

 private:
  bool exponential_;
  engine::Random random_;
  u64 next_ = 0;
  engine::u128 left_ = 0;  // for an even stream, in units of 1 / per
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>

#include "model/engine/cycle.h"
#include "model/engine/random.h"
#include "testbench/trace/time_series.h"

namespace hca::testbench {
// When a chip's levels are sampled: at least kSamples times in a bucket of the series, and in the
// first cycle after each bucket. A function of time alone, so that it is the same in all ways to
// run. When the buckets grow, samples become rarer; they then lie at irregular distances, because
// traffic often repeats in a number of cycles that the distance could be a multiple of.
class SampleTimes {
 public:
  using Cycle = engine::Cycle;
  static constexpr Cycle kEach = 16;     // from one to the next, at first
  static constexpr Cycle kSamples = 64;  // in a bucket that has grown
  // `period`: of the chip's clock, ps.
  explicit SampleTimes(u64 period) : period_(period) {
    begin_bucket();
    advance();
  }
  Cycle next() const { return next_; }
  // The next sample is the first one after a bucket.
  bool ends_bucket() const { return next_ == end_; }
  u64 bucket_end() const { return end_ps_; }  // ps
  void advance() {
    if (ends_bucket()) begin_bucket();
    u64 state = next_;
    const Cycle regular = each_ <= kEach ? next_ + kEach - next_ % kEach
                                         : next_ + each_ / 2 + engine::split_mix(state) % each_;
    next_ = std::min(regular, end_);
  }

 private:
  // That of the next sample.
  void begin_bucket() {
    const u64 at = next_ * period_, width = TimeSeries::width_at(at);
    each_ = width / period_ / kSamples;
    end_ps_ = (at / width + 1) * width;
    end_ = (end_ps_ + period_ - 1) / period_;
  }
  u64 period_, end_ps_ = 0;
  Cycle next_ = 0, each_ = 0, end_ = 0;
};
}  // namespace hca::testbench

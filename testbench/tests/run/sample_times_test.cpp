// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/sample_times.h"

#include <catch2/catch.hpp>
#include <vector>

namespace hca::testbench {
// Buckets of 100 cycles.
TEST_CASE("samples lie 16 cycles apart at first, and after each bucket", "[series][samples]") {
  SampleTimes samples(1000);
  std::vector<engine::Cycle> times, ends;
  for (; samples.next() <= 128; samples.advance()) {
    times.push_back(samples.next());
    if (samples.ends_bucket()) ends.push_back(samples.next());
  }
  CHECK(times == std::vector<engine::Cycle>{16, 32, 48, 64, 80, 96, 100, 112, 128});
  CHECK(ends == std::vector<engine::Cycle>{100});
}

// A sample follows the last one by less than one and a half 64ths of a bucket. The width doubles
// with the time, of which no bucket but the last may have more than its end.
TEST_CASE("each bucket of a long run has samples, and one when it is over", "[series][samples]") {
  const u64 period = GENERATE(333u, 1000u, 1250u);
  SampleTimes samples(period);
  u64 count = 0, end = 0;
  while (samples.next() * period < 5'000'000'000) {
    ++count;
    if (samples.ends_bucket()) {
      const u64 width = TimeSeries::width_at(end);
      REQUIRE(samples.bucket_end() == end + width);
      REQUIRE(samples.next() * period >= samples.bucket_end());
      REQUIRE(samples.next() * period < samples.bucket_end() + period);
      if (width / period > SampleTimes::kEach * SampleTimes::kSamples)
        REQUIRE(count > SampleTimes::kSamples * 2 / 3);
      end = samples.bucket_end(), count = 0;
    }
    samples.advance();
  }
  CHECK(end > 4'900'000'000);
}
}  // namespace hca::testbench

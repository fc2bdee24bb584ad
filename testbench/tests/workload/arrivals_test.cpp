// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/arrivals.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
constexpr u64 kOne = u64{1} << 32;
}

TEST_CASE("the logarithm in whole numbers", "[arrivals]") {
  // ln 2 = 0.693147180559945, ln 4/3 = 0.287682072451781; one unit is 2^-32.
  CHECK(minus_log(u64{1} << 63) == Approx(0.693147180559945 * double(kOne)).margin(4));
  CHECK(minus_log(u64{1} << 62) == Approx(2 * 0.693147180559945 * double(kOne)).margin(4));
  CHECK(minus_log(u64{3} << 62) == Approx(0.287682072451781 * double(kOne)).margin(4));
  CHECK(minus_log(1) == Approx(64 * 0.693147180559945 * double(kOne)).margin(128));
  CHECK(minus_log(~u64{0}) <= 4);
}

TEST_CASE("even arrivals lose no fraction of their distance", "[arrivals]") {
  Arrivals arrivals(false, 1);
  CHECK(arrivals.next() == 0);
  // A third of a second: after 3000 steps 1000 seconds exactly.
  arrivals.advance(engine::kPicosecondsPerSecond, 3);
  CHECK(arrivals.next() == 333'333'333'333);
  for (int i = 1; i < 3'000; ++i) arrivals.advance(engine::kPicosecondsPerSecond, 3);
  CHECK(arrivals.next() == 1'000 * engine::kPicosecondsPerSecond);
}

TEST_CASE("exponential arrivals have their mean and their tail", "[arrivals]") {
  Arrivals arrivals(true, GENERATE(1u, 2u, 3u));
  const int n = 200'000;
  int above_mean = 0, above_three = 0;
  for (int i = 0; i < n; ++i) {
    const u64 before = arrivals.next();
    arrivals.advance(1'000'000, 1);
    above_mean += arrivals.next() - before > 1'000'000;
    above_three += arrivals.next() - before > 3'000'000;
  }
  // The mean has a standard deviation of 1 / sqrt(n): 0.22 %. exp(-1) = 0.3679, exp(-3) = 0.0498.
  CHECK(double(arrivals.next()) / n == Approx(1'000'000).epsilon(0.01));
  CHECK(double(above_mean) / n == Approx(0.36788).epsilon(0.015));
  CHECK(double(above_three) / n == Approx(0.04979).epsilon(0.05));
}
}  // namespace hca::testbench

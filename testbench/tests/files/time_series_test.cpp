// SPDX-License-Identifier: Apache-2.0
#include "testbench/time_series.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
TEST_CASE("an amount over time is spread over the buckets that it covers", "[files][series]") {
  TimeSeries series;
  const std::size_t busy = series.add_column({"links", "busy", "%", 100});
  // From the middle of bucket 0 through 1 to the middle of 2, evenly: 1/4, 1/2, 1/4 of 200 ns.
  series.add(busy, 50'000, 250'000, 200'000);
  REQUIRE(series.rows() == 3);
  CHECK(series.value(busy, 0) == Approx(50));
  CHECK(series.value(busy, 1) == Approx(100));
  CHECK(series.value(busy, 2) == Approx(50));
  // At once: all of it is in the bucket of its time.
  series.add(busy, 300'000, 300'000, 25'000);
  CHECK(series.value(busy, 3) == Approx(25));
}

TEST_CASE("a long run doubles the width of all buckets and loses nothing", "[files][series]") {
  TimeSeries series;
  const std::size_t count = series.add_column({"messages", "sent", "messages"});
  const std::size_t other = series.add_column({"messages", "back", "messages"});
  // One a bucket of 100 ns: 399 is the last that has room; 400 makes all twice as wide.
  for (u64 i = 0; i < 400; ++i) series.add(count, i * 100'000, i * 100'000, 1);
  CHECK(series.width() == 100'000);
  CHECK(series.rows() == 400);
  series.add(other, 40'000'000, 40'000'000, 1);
  CHECK(series.width() == 200'000);
  CHECK(series.rows() == 201);
  double sum = 0;
  for (std::size_t row = 0; row < series.rows(); ++row)
    sum += series.value(count, row) * double(series.width());
  CHECK(sum == Approx(400));
  CHECK(series.value(other, 200) * double(series.width()) == Approx(1));
}
}  // namespace hca::testbench

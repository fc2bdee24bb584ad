// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/time_series.h"

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

TEST_CASE("the bucket of a time is as wide as all are", "[files][series]") {
  TimeSeries series;
  CHECK(series.bucket_at(199'999).from == 100'000);
  CHECK(series.bucket_at(199'999).to == 200'000);
  CHECK(series.bucket_at(200'000).from == 200'000);
  CHECK(series.bucket_at(40'000'000).from == 40'000'000);  // the first that makes all twice as wide
  CHECK(series.bucket_at(40'000'000).to == 40'200'000);
  CHECK(series.width() == 200'000);
}

// Names are sentences: a reader of CSV finds as many fields in the first line as in the others.
TEST_CASE("names with commas are one field of the CSV file", "[files][series]") {
  TimeSeries series;
  series.add_column({"stalls", "scheduler: turns, of all queue pairs", "queue pairs"});
  const std::size_t busy = series.add_column({"links", "busy", "%", 100, 1});
  series.add(busy, 0, 50'000, 50'000);
  CHECK(series.csv() ==
        "time_us,\"stalls: scheduler: turns, of all queue pairs (queue pairs)\",\"links: busy "
        "(%)\"\n0,0,50\n");
}

// An item that takes 250 ns is recorded when it begins, in bucket 1 of 100 ns: it fills 1, 2 and
// half of 3. Items without a limit on their number stay in the bucket of their record.
TEST_CASE("nothing is busy for more than all of a bucket", "[files][series]") {
  TimeSeries series;
  const std::size_t busy = series.add_column({"intervals", "block", "%", 100, 1});
  const std::size_t count = series.add_column({"messages", "sent", "messages", 1e5});
  for (const std::size_t column : {busy, count}) series.add(column, 110'000, 110'000, 250'000);
  series.add(count, 499'999, 499'999, 0);
  CHECK(series.values(busy) == std::vector<double>{0, 100, 100, 50, 0});
  CHECK(series.values(count) == std::vector<double>{0, 250'000, 0, 0, 0});
}
}  // namespace hca::testbench

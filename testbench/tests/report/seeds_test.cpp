// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/seeds.h"

#include <catch2/catch.hpp>

#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
namespace {
Interval interval(std::vector<double> samples) { return {"", "", std::move(samples)}; }
}  // namespace

TEST_CASE("Student's t is that of the table, between its rows that of fewer runs", "[seeds]") {
  CHECK(students_t(1) == 12.706);
  CHECK(students_t(4) == 2.776);
  CHECK(students_t(30) == 2.042);
  CHECK(students_t(39) == 2.042);
  CHECK(students_t(40) == 2.021);
  CHECK(students_t(100'000) == 1.980);
}

TEST_CASE("a confidence interval is t * s / sqrt(n)", "[seeds]") {
  // s = sqrt((4 + 4) / 1), s / sqrt(2) = 2.
  CHECK(interval({10, 14}).mean() == 12);
  CHECK(*interval({10, 14}).half_width() == Approx(2 * 12.706));
  // s = 1; 4.303 / sqrt(3) = 2.48434.
  CHECK(*interval({1, 2, 3}).half_width() == Approx(2.48434).epsilon(1e-5));
  CHECK(*interval({0.1, 0.1, 0.1}).half_width() == 0);
  CHECK_FALSE(interval({5}).half_width());
}

TEST_CASE("each figure keeps the samples of the runs that have it", "[seeds]") {
  const auto intervals = intervals_of({{{"A", "Gb/s", 1}}, {{"A", "Gb/s", 3}, {"B", "Gb/s", 7}}});
  REQUIRE(intervals.size() == 2);
  CHECK(intervals[0].samples == std::vector<double>{1, 3});
  CHECK(intervals[1].of == "B");
  CHECK(intervals[1].samples == std::vector<double>{7});
}

TEST_CASE("runs with several seeds are those of each seed alone", "[seeds]") {
  const std::string text =
      "run: {seed: 5}\nworkload:\n  - {operation: send, size: 1 KiB, messages: 300, message_rate: "
      "5000000, "
      "arrivals: exponential}\n";
  std::vector<u64> seeds;
  const SeedsResult all =
      run_seeds(parse_scenario(text, "s.yaml"), 3, {[&](u64 seed) { seeds.push_back(seed); }});
  CHECK(seeds == std::vector<u64>{5, 6, 7});
  const SeedsResult last = run_seeds(parse_scenario(text, "s.yaml", {"run.seed=7"}), 1);
  REQUIRE(!all.intervals.empty());
  for (std::size_t i = 0; i < all.intervals.size(); ++i) {
    REQUIRE(all.intervals[i].samples.size() == 3);
    CHECK(all.intervals[i].samples[2] == last.intervals.at(i).samples[0]);
  }
  CHECK(all.intervals[0].samples[0] != all.intervals[0].samples[1]);
  const Scenario end = parse_scenario("run: {seed: 4611686018427387902}\n", "s.yaml");
  CHECK_THROWS_WITH(run_seeds(end, 3), Catch::Contains("up to 4611686018427387903"));
}
}  // namespace hca::testbench

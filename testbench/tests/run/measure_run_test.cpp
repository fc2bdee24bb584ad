// SPDX-License-Identifier: Apache-2.0
// measure: from and to.
#include <catch2/catch.hpp>

#include "testbench/run/run.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
RunResult run(const std::string& text) {
  FreshKernel kernel;
  Runner runner(parse_scenario(text, "t.yaml"), {});
  return runner.run();
}
const std::string kStream =
    "workload: [{operation: write, size: 4 KiB, messages: 2000, depth: 16, qps: 2}]\n";
}  // namespace

// The core sleeps 200 us before its first message; what comes after it runs at the rate of the link.
TEST_CASE("a warm-up is cut from the figures", "[measure]") {
  const std::string slow = "host: {warm_up: 200 us}\n";
  const StreamResult warm = run(kStream).streams.at(0), cold = run(slow + kStream).streams.at(0),
                     cut = run(slow + "measure: {from: 220 us}\n" + kStream).streams.at(0);
  CHECK(cold.gigabits_per_second() < 0.9 * warm.gigabits_per_second());
  CHECK(cut.gigabits_per_second() == Approx(warm.gigabits_per_second()).epsilon(0.02));
  CHECK(cut.messages < 2000);
  CHECK(cut.latency.count() == cut.messages);
}

TEST_CASE("an interval has its own messages and its own time", "[measure]") {
  const StreamResult all = run(kStream).streams.at(0),
                     part = run("measure: {from: 50 us, to: 100 us}\n" + kStream).streams.at(0);
  CHECK(part.picoseconds == 50'000'000);
  CHECK(part.gigabits_per_second() == Approx(all.gigabits_per_second()).epsilon(0.03));
}

TEST_CASE("an interval in which nothing completes is a failure that says so", "[measure]") {
  const RunResult none = run("measure: {from: 50 ms}\n" + kStream);
  REQUIRE(none.failures.size() == 1);
  CHECK_THAT(none.failures[0],
             Catch::Contains("nothing completes in what is measured, from 50000"));
  CHECK_THROWS_WITH(parse_scenario("measure: {from: 5 us, to: 5 us}\n", "t.yaml"),
                    Catch::Contains("t.yaml:1: measure.to: leaves nothing between from and to"));
}
}  // namespace hca::testbench

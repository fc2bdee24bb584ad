// SPDX-License-Identifier: Apache-2.0
// What a run tells of itself: its progress, and what it does not do.
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/report/report.h"
#include "testbench/run/bottleneck_check.h"
#include "testbench/run/run.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
using Catch::Matchers::Contains;

TEST_CASE("progress rises to all of the run, and no further", "[run]") {
  FreshKernel kernel;
  const Scenario scenario = parse_scenario(
      "workload:\n"
      "  - {operation: write, size: 4 KiB, qps: 16, threads: 16, messages: 8000}\n"
      "  - {operation: write, size: 4 KiB, messages: 2000, direction: both}\n",
      "t.yaml");
  std::vector<double> done;
  Runner runner(scenario, [&](const ProgressState& state) { done.push_back(state.done); });
  CHECK(runner.run().failures.empty());
  REQUIRE(done.size() > 20);
  CHECK(std::ranges::is_sorted(done));
  CHECK(done[done.size() / 3] < 0.9);
  CHECK(done.back() == Approx(1));
}

TEST_CASE("congestion notifications that change no rate are told", "[run]") {
  const auto text = [](const std::string& faults) {
    FreshKernel kernel;
    const Scenario scenario = parse_scenario(
        faults + "workload: [{operation: write, size: 1 KiB, messages: 20}]\n", "t.yaml");
    Runner runner(scenario, {});
    return text_of(runner.run(), scenario);
  };
  CHECK_THAT(text("faults: [{action: mark_ecn, from: 0, per_million: 1000000}]\n"),
             Contains("change no rate"));
  CHECK_THAT(text(""), !Contains("change no rate"));
}

TEST_CASE("a knob is improved by a quarter, or one step", "[run][bottleneck]") {
  const Scenario s = parse_scenario(
      "hca0: {requester: {interval: 3 cycles}}\npcie: {generation: 6, lanes: 4}\n"
      "workload: [{operation: write, depth: 8}, {operation: read, depth: 1, fence: true}]\n",
      "t.yaml");
  CHECK(better(s, "port.link_rate").settings ==
        std::vector<std::string>{"hca0.port.link_rate=125 Gb/s", "hca1.port.link_rate=125 Gb/s"});
  CHECK(better(s, "host.post_send").change == "40 ns -> 32 ns");
  CHECK(better(s, "workload[].depth").settings ==
        std::vector<std::string>{"workload[0].depth=10", "workload[1].depth=2"});
  CHECK(better(s, "requester.interval").settings ==
        std::vector<std::string>{"hca0.requester.interval=2 cycles",
                                 "hca1.requester.interval=1 cycle"});
  CHECK(better(s, "pcie.lanes").change == "4 -> 8");
  CHECK(better(s, "pcie.generation").settings.empty());  // there is no better one
  CHECK(better(s, "connection.timeout").change == "14 -> 13");
  CHECK(better(s, "workload[].fence").settings ==
        std::vector<std::string>{"workload[1].fence=false"});
  CHECK(better(s, "host.wait").settings.empty());
}

TEST_CASE("a limit is right if no other gains a hundredth more", "[run][bottleneck]") {
  const auto check = [](double named, double next) {
    PartCheck part;
    part.gains = {Gain{{}, true, {}, named, ""}, Gain{{}, false, {}, next, ""}};
    return part.is_right();
  };
  CHECK(check(0.2, 0.05));
  CHECK(check(0.2, 0.205));
  CHECK_FALSE(check(0.2, 0.22));
  CHECK_FALSE(check(0, 0.02));
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/scenario/scenario_file.h"
#include "testbench/sweep/axis_values.h"
#include "testbench/sweep/plan.h"
#include "testbench/sweep/slurm.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;
using Values = std::vector<u64>;
constexpr std::size_t kMany = 1000;

const std::string kScenario =
    "scenario: {workload: [{operation: send, size: 64 B, messages: 10}]}\n";
SweepPlan plan_of(const std::string& axes) {
  return parse_sweep(kScenario + "axes:\n" + axes, "s.yaml");
}
std::string axes_error(const std::string& axes) {
  try {
    plan_of(axes);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "(none)";
}
// "connection.qps=1 wire.latency=2 us" of each point.
std::vector<std::string> points_of(const std::string& axes) {
  std::vector<std::string> texts;
  for (const SweepPoint& point : plan_of(axes).points) {
    std::string& text = texts.emplace_back();
    for (const auto& [knob, value] : point.knobs)
      text += (text.empty() ? "" : " ") + knob + "=" + value;
  }
  return texts;
}
using Texts = std::vector<std::string>;
}  // namespace

TEST_CASE("steps end at the last one that is not beyond", "[sweep]") {
  CHECK(stepped(2, 11, 3, kMany) == Values{2, 5, 8, 11});
  CHECK(stepped(2, 10, 3, kMany) == Values{2, 5, 8});
  CHECK(stepped(7, 7, 1, kMany) == Values{7});
  CHECK(stepped(~u64{0} - 1, ~u64{0}, 1, kMany) == Values{~u64{0} - 1, ~u64{0}});
  CHECK(stepped(0, 9, 1, 3) == Values{0, 1, 2});
}

TEST_CASE("a factor multiplies exactly and rounds down", "[sweep]") {
  CHECK(multiplied(64, 4096, {4, 1}, kMany) == Values{64, 256, 1024, 4096});
  // 12.5, 15, 18.75, 22.5, 27.5; 27 * 1.25 = 33.75 is beyond.
  CHECK(multiplied(10, 30, {5, 4}, kMany) == Values{10, 12, 15, 18, 22, 27});
  CHECK(multiplied(1, 9, {3, 2}, kMany) == Values{1});  // 1.5 is 1 again
}

TEST_CASE("logarithms of base 2 are exact to 2^-40", "[sweep]") {
  constexpr u64 kOne = u64{1} << kLogarithmBits;
  CHECK(logarithm_2(1) == 0);
  CHECK(logarithm_2(8) == 3 * kOne);
  CHECK(logarithm_2(u64{1} << 62) == 62 * kOne);
  // log2(3) = 1.58496250072115618... and log2(1000003) = 19.93157289752854..., times 2^40.
  CHECK(logarithm_2(3) == 1742684699131);
  CHECK(logarithm_2(1000003) == 21914996160559);
  CHECK(exponential_2(0) == 1);
  CHECK(exponential_2(10 * kOne) == 1024);
  CHECK(exponential_2(20 * kOne + kOne / 2) == 1482910);  // 2^20 * 1.41421356... = 1482910.4
  CHECK(exponential_2(20 * kOne + kOne / 4) == 1246974);  // 2^20 * 1.18920711... = 1246974.0
}

TEST_CASE("numbers drawn lie in their range with the shares of their scale", "[sweep]") {
  engine::Random random(1);
  std::array<unsigned, 10> octaves{}, tenths{};
  for (unsigned i = 0; i < 10'000; ++i) {
    const u64 log = drawn(random, 1, 1023, Scale::Log),
              even = drawn(random, 100, 199, Scale::Uniform);
    REQUIRE((log >= 1 && log <= 1023 && even >= 100 && even <= 199));
    ++octaves[std::size_t(std::bit_width(log) - 1)], ++tenths[(even - 100) / 10];
  }
  // 1000 each, with a standard deviation of sqrt(10000 * 0.1 * 0.9) = 30.
  for (std::size_t i = 0; i < 10; ++i) {
    CHECK(std::abs(int(octaves[i]) - 1000) < 150);
    CHECK(std::abs(int(tenths[i]) - 1000) < 150);
  }
  CHECK(drawn(random, 5, 5, Scale::Log) == 5);
  const u64 large = (u64{1} << 61) + 12345;
  CHECK(drawn(random, large, large, Scale::Log) == large);
  CHECK(drawn(random, 9, 9, Scale::Uniform) == 9);
}

TEST_CASE("the points of a sweep are all combinations, the last axis fastest", "[sweep]") {
  CHECK(points_of("  - {knob: connection.qps, values: [1, 4]}\n"
                  "  - {knob: wire.latency, from: 1 us, to: 2 us, step: 500 ns}\n") ==
        Texts{"connection.qps=1 wire.latency=1 us", "connection.qps=1 wire.latency=1.5 us",
              "connection.qps=1 wire.latency=2 us", "connection.qps=4 wire.latency=1 us",
              "connection.qps=4 wire.latency=1.5 us", "connection.qps=4 wire.latency=2 us"});
  CHECK(points_of("  - {knob: 'workload[0].address', values: [sequential, random]}\n"
                  "  - {knob: 'workload[0].working_set', from: 64 KiB, to: 1 MiB, factor: 16}\n") ==
        Texts{"workload[0].address=sequential workload[0].working_set=64 KiB",
              "workload[0].address=sequential workload[0].working_set=1 MiB",
              "workload[0].address=random workload[0].working_set=64 KiB",
              "workload[0].address=random workload[0].working_set=1 MiB"});
  CHECK(points_of("  - knob: workload[0].size\n    from: 64 B\n    to: 5 KiB\n    factor: 8\n") ==
        Texts{"workload[0].size=64 B", "workload[0].size=512 B", "workload[0].size=4 KiB"});
  CHECK(points_of("  - list:\n"
                  "      - {connection.qps: 2, workload: [{depth: 4}]}\n"
                  "      - {wire: {latency: 1 us}}\n") ==
        Texts{"connection.qps=2 workload[0].depth=4", "wire.latency=1 us"});
  const SweepPlan plan = plan_of("  - {knob: run.seed, from: 0, to: 10000, step: 1}\n");
  CHECK(plan.points.size() == 10'001);
  CHECK(plan.points[7].name == "00007");
}

TEST_CASE("a random axis draws all its knobs for each point, the same from the same seed",
          "[sweep]") {
  const auto axis = [](int seed) {
    return "  - random: 20\n    seed: " + std::to_string(seed) +
           "\n    knobs:\n      - {knob: connection.qps, from: 1, to: 64, scale: log}\n"
           "      - {knob: wire.latency, from: 1 us, to: 2 us}\n";
  };
  const Texts points = points_of(axis(4));
  CHECK(points.size() == 20);
  CHECK(points == points_of(axis(4)));
  CHECK(points != points_of(axis(5)));
  for (const std::string& point : points)
    CHECK_THAT(point, Contains("connection.qps=") && Contains(" wire.latency=1"));
}

TEST_CASE("mistakes of a sweep file are named with file, line, key and range", "[sweep]") {
  CHECK(
      axes_error("  - {knob: connection.qps, values: [1, 0]}\n") ==
      "s.yaml:3: axes[0].values[1]: connection.qps: \"0\" is out of range; allowed: 1 .. 1048576");
  CHECK_THAT(axes_error("  - {knob: connection.qp, values: [1]}\n"),
             Contains("s.yaml:3: axes[0].knob: ") && Contains("did you mean \"connection.qps\""));
  CHECK_THAT(axes_error("  - {knob: 'workload[1].size', values: [1 B]}\n"),
             Contains("\"workload[1].size\" is no knob of the scenario"));
  CHECK_THAT(axes_error("  - {knob: wire.latency, from: 2 us, to: 1 us, step: 1 ns}\n"),
             Contains("axes[0].to: is below from; allowed: 2 us or more"));
  CHECK_THAT(axes_error("  - {knob: wire.latency, from: 2 us, to: 3 us}\n"),
             Contains("needs one of step and factor"));
  CHECK_THAT(axes_error("  - {knob: connection.qps, from: 1, to: 9, factor: 1.5}\n"),
             Contains("does not make 1 larger"));
  CHECK_THAT(axes_error("  - {knob: connection.qps, from: 1, to: 9, factor: 1}\n"),
             Contains("is no factor; allowed: above 1"));
  CHECK_THAT(
      axes_error("  - {knob: connection.qps, from: 1, to: 9, stap: 1}\n"),
      Contains("axes[0].stap: is no key of such an axis; allowed: knob, from, to, step, factor"));
  CHECK_THAT(
      axes_error(
          "  - {random: 0, seed: 1, knobs: [{knob: run.seed, from: 0, to: 9, scale: log}]}\n"),
      Contains("axes[0].random: is no number of its range; allowed: 1 .. 100000") &&
          Contains("axes[0].knobs[0].from: is 0, which has no logarithm"));
  CHECK_THAT(axes_error("  - {knob: connection.qps, values: [1]}\n"
                        "  - {knob: connection.qps, values: [2]}\n"),
             Contains("s.yaml:4: axes[1]: connection.qps is a knob of axes[0] too"));
  CHECK_THAT(axes_error("  - {knob: run.seed, from: 1, to: 1000, step: 1}\n"
                        "  - {knob: connection.client_psn, from: 1, to: 101, step: 1}\n"),
             Contains("more than 100000 points"));
  // An axis alone: 100000 are all that there may be, and none is left out.
  const auto axis = [](const std::string& last) {
    return "  - {knob: run.seed, from: 1, to: " + last + ", step: 1}\n";
  };
  CHECK_THAT(axes_error(axis("100001")), Contains("axes[0]: has more than 100000 points"));
  CHECK(axes_error(axis("100000")) == "(none)");
  CHECK_THAT(axes_error("  - {knob: connection.service, from: rc, to: ud, step: 1}\n"),
             Contains("is no number; allowed: values"));
  CHECK_THAT(axes_error("  - {list: [{wire.latency: 1}]}\n"),
             Contains("axes[0].list[0].wire.latency: ") && Contains("has no unit"));
  try {
    parse_sweep("scenario: {conection.qps: 2}\naxes: [{knob: connection.qps, values: [1]}]\n",
                "s.yaml");
    FAIL("taken");
  } catch (const ScenarioError& error) {
    CHECK_THAT(error.what(), Contains("s.yaml:1: conection.qps: is no known key"));
  }
}

TEST_CASE("lists without an entry are told to be empty", "[sweep]") {
  const auto error = [](const std::string& text) {
    try {
      parse_sweep("scenario: {run.seed: 1}\n" + text, "s.yaml");
    } catch (const ScenarioError& wrong) {
      return std::string(wrong.what());
    }
    return std::string("(none)");
  };
  CHECK(error("axes: []\n") == "s.yaml:2: axes: is empty; allowed: one entry or more");
  CHECK(error("axes: [{knob: run.seed, values: []}]\n") ==
        "s.yaml:2: axes[0].values: is empty; allowed: [64 B, 4 KiB]");
  CHECK(error("axes: [{knob: run.seed, values: 3}]\n") ==
        "s.yaml:2: axes[0].values: is no list; allowed: [64 B, 4 KiB]");
  CHECK_THAT(error("axes: [{list: []}]\n"),
             Contains("s.yaml:2: axes[0].list: is empty; allowed: "));
  CHECK_THAT(error("axes: [{random: 1, seed: 1, knobs: []}]\n"),
             Contains("s.yaml:2: axes[0].knobs: is empty; allowed: "));
}

// Of 1 .. 16 lanes there are five widths; 1 is the only one that this axis draws.
TEST_CASE("a random axis that draws what its knob does not take is refused", "[sweep]") {
  const auto axis = [](const std::string& knob) {
    return "  - {random: 50, seed: 1, knobs: [{knob: " + knob + "}]}\n";
  };
  CHECK_THAT(axes_error(axis("pcie.lanes, from: 1, to: 16")),
             Contains("s.yaml:3: axes[0].knobs[0]: draws ") && Contains("; allowed: 1 .. 16, ") &&
                 Contains("; values and list name each"));
  CHECK_THAT(axes_error(axis("pcie.mrrs, from: 128 B, to: 4 KiB, scale: log")),
             Contains("s.yaml:3: axes[0].knobs[0]: draws "));
  CHECK(axes_error(axis("pcie.lanes, from: 1, to: 1")) == "(none)");
  CHECK(axes_error(axis("pcie.memory_rate, from: 1 Mb/s, to: 1 Gb/s")) == "(none)");
}

TEST_CASE("a random axis draws from values too, of a knob that is no number as well", "[sweep]") {
  const auto axis = [](const std::string& knob) {
    return "  - {random: 60, seed: 1, knobs: [{knob: " + knob + "}]}\n";
  };
  const auto times = [](const Texts& points, const std::string& text) {
    return std::ranges::count_if(points, [&](const std::string& p) { return p.ends_with(text); });
  };
  const Texts lanes = points_of(axis("pcie.lanes, values: [1, 4, 16]"));
  REQUIRE(lanes.size() == 60);
  CHECK(times(lanes, "=1") + times(lanes, "=4") + times(lanes, "=16") == 60);
  for (const char* value : {"=1", "=4", "=16"}) CHECK(times(lanes, value) > 8);
  CHECK(times(points_of(axis("hca.qp_cache.policy, values: [lru, random]")), "random") > 15);
  CHECK_THAT(axes_error(axis("pcie.lanes, values: [1, 9]")),
             Contains("axes[0].knobs[0].values[1]: ") && Contains("allowed: "));
  CHECK_THAT(axes_error(axis("pcie.lanes, values: [1], from: 1")), Contains("is no key"));
}

TEST_CASE("array jobs name the points by ranges, below Slurm's usual array size", "[sweep]") {
  const auto texts = [](const std::vector<std::size_t>& points) {
    std::vector<std::string> all;
    for (const ArrayJob& job : array_jobs(points))
      all.push_back(std::to_string(job.offset) + ":" + job.indices);
    return all;
  };
  CHECK(texts({}) == Texts{});
  CHECK(texts({0, 1, 2, 5, 7, 8}) == Texts{"0:0-2,5,7-8"});
  CHECK(texts({998, 999, 1000, 1001, 3000}) == Texts{"0:998-999", "1000:0-1", "3000:0"});
}
}  // namespace hca::testbench

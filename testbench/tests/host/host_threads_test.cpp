// SPDX-License-Identifier: Apache-2.0
// What hosts with several threads reach, and what single units cost, against arithmetic.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "testbench/run/run_recorder.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
double messages_rate(const RunResult& result) {
  return result.streams.at(0).million_messages_per_second();
}
}  // namespace

TEST_CASE("threads post at the same time, each on a core of its own", "[workload][threads]") {
  // A post takes 1 us of its core, a completion nothing to speak of: 1 million messages a second
  // for each thread, whatever the queue pairs.
  const std::vector<std::string> slow{"host.post_send=1 us", "host.completion=0 ps"};
  const RunResult four =
      run_workload("  - {operation: write, size: 8 B, threads: 4, qps: 8, messages: 2000}\n", slow);
  REQUIRE(four.streams.size() == 1);
  CHECK(messages_rate(four) == Approx(4.0).epsilon(0.02));
  CHECK(four.streams[0].messages == 2000);
  CHECK(four.streams[0].qps == 8);
  CHECK(four.streams[0].bytes == 16000);
  CHECK(four.streams[0].latency.count() == 2000);
  const RunResult one =
      run_workload("  - {operation: write, size: 8 B, qps: 8, messages: 2000}\n", slow);
  CHECK(messages_rate(one) == Approx(1.0).epsilon(0.02));
}

TEST_CASE("threads share what does not divide evenly", "[workload][threads]") {
  const RunResult result = run_workload(
      "  - {mix: {send: 1, write: 1, fetch_add: 1}, size: 40 B, threads: 3, qps: 3, messages: 100,"
      " direction: both}\n");
  REQUIRE(result.streams.size() == 2);
  for (const StreamResult& stream : result.streams) CHECK(stream.messages == 100);
  CHECK(result.messages == 200);
}

TEST_CASE("what is recorded of a run is of all threads", "[workload][threads][report]") {
  FreshKernel kernel;
  Scenario scenario = parse_scenario(
      "workload: [{operation: write, size: 8 B, threads: 4, qps: 4, messages: 400}]\n"
      "host: {post_send: 1 us, completion: 0 ps}\n",
      "test.yaml");
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  CHECK(runner.run().failures.empty());
  const auto phase = recorder.json().at("phases").at(0);
  CHECK(phase.at("messages") == 400);
  CHECK(phase.at("bytes") == 3200);
  // Each core does nothing but post: all of them are busy but for the last round trip.
  for (const auto& use : phase.at("resources"))
    if (use.at("resource") == "host 0's cores") CHECK(use.at("share").get<double>() > 0.95);
  CHECK(recorder.bottleneck_lines().find("host 0's cores") != std::string::npos);
}

TEST_CASE("a batch waits for all of its messages", "[workload][threads]") {
  // One message on each of 2 queue pairs: t and a post more. Of 4 on each: 6 posts more, 0.5 us
  // each.
  const auto run = [](const std::string& depth, const std::string& batches) {
    return 1 / messages_rate(run_workload(
                   "  - {operation: read, size: 8 B, qps: 2, messages: 800, depth: " + depth +
                       ", batches: " + batches + "}\n",
                   {"host.post_send=500 ns", "host.completion=0 ps"}));
  };
  const double alone = 2 * run("1", "true");  // us, of a batch
  CHECK(8 * run("4", "true") == Approx(alone + 6 * 0.5).epsilon(0.01));
  CHECK(run("4", "false") == Approx(0.5).epsilon(0.01));  // a stream is as fast as its core posts
}

TEST_CASE("READs begin one each read_interval", "[workload][G30]") {
  // 400 MHz / 50: 8 million a second.
  const RunResult result = run_workload(
      "  - {operation: read, size: 8 B, threads: 4, qps: 8, messages: 4000, depth: 16}\n",
      {"hca.responder_execute.read_interval=50 cycles"});
  CHECK(messages_rate(result) == Approx(8.0).epsilon(0.01));
}

TEST_CASE("a FetchAdd takes so many cycles more than a CmpSwap", "[workload][G30]") {
  const auto period = [](const std::string& operation) {
    const RunResult r = run_workload(
        "  - {operation: " + operation + ", threads: 2, qps: 8, messages: 2000, depth: 8}\n",
        {"hca.responder_execute.fetch_add=40 cycles"});
    return 1000 / messages_rate(r);  // ns
  };
  // They are executed one at a time: 40 cycles of 2.5 ns.
  CHECK(period("fetch_add") - period("compare_swap") == Approx(100).margin(1));
}

TEST_CASE("a pushed WQE leaves the core line by line", "[workload]") {
  const auto p50 = [](const std::string& inlined, const std::string& line) {
    const RunResult r = run_workload(
        "  - {operation: write, test: latency, size: 100 B, messages: 40, push: true, " +
            ("inline_below: " + inlined) + "}\n",
        {"host.push_line=" + line});
    return *r.sizes.at(0).latency->picoseconds.percentile(50);
  };
  // A WQE of 32 + 16 bytes, and one of 32 + 100: 1 and 3 lines of 25 ns.
  CHECK(p50("0 B", "25 ns") - p50("0 B", "0 ps") == 25'000);
  CHECK(p50("128 B", "25 ns") - p50("128 B", "0 ps") == 75'000);
}

TEST_CASE("the first post of a core warms it up, once", "[workload]") {
  const auto picoseconds = [](const std::string& warm_up) {
    const RunResult r = run_workload(
        "  - {operation: write, size: 8 B, messages: 2000}\n"
        "  - {operation: write, size: 16 B, messages: 2000}\n",
        {"host.warm_up=" + warm_up});
    return std::array{r.sizes.at(0).bandwidth->picoseconds, r.sizes.at(1).bandwidth->picoseconds};
  };
  const auto cold = picoseconds("100 us"), warm = picoseconds("0 ps");
  CHECK(double(cold[0] - warm[0]) == Approx(100e6).epsilon(0.02));
  CHECK(double(cold[1]) == Approx(double(warm[1])).epsilon(0.01));
}
}  // namespace hca::testbench

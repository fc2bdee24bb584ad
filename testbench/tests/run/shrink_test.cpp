// SPDX-License-Identifier: Apache-2.0
// Runs that fail under faults, made small.
#include <catch2/catch.hpp>

#include "testbench/run/shrink.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/tests/run_text.h"

using namespace hca;
using namespace hca::testbench;
using Catch::Matchers::Contains;

namespace {
Shrunk shrunk_of(const std::string& text) {
  const Scenario scenario = parse_scenario(text, "s.yaml");
  return shrink(scenario, run_text(text), {});
}
}  // namespace

// Without retries one lost packet is enough: the PSN that the requester blames.
TEST_CASE("of many faults the one that fails the run is left", "[shrink]") {
  const Shrunk shrunk = shrunk_of(
      "connection: {qps: 2, retry_count: 0, timeout: 1}\n"
      "workload: [{operation: write, size: 1 KiB, messages: 4000, depth: 8}]\n"
      "faults:\n"
      "  - {action: duplicate, from: 0, per_million: 50000}\n"
      "  - {action: drop, from: 0, per_million: 3000}\n");
  REQUIRE(shrunk.repeats);
  REQUIRE(shrunk.scenario.faults.size() == 1);
  const FaultConfig& left = shrunk.scenario.faults[0];
  CHECK(left.action == tlm_::FaultAction::Drop);
  CHECK(left.occurrence == 1);
  REQUIRE(shrunk.result.failures.size() >= 1);
  CHECK_THAT(shrunk.result.failures[0], Contains("RETRY_EXC_ERR"));
  // One packet a message, PSNs of the client from 0x10 on, messages in turn on two queue pairs: the
  // packet that is lost is of message 2 n or 2 n + 1, and no later message is needed.
  const u64 n = left.psn - 0x10;
  CHECK(shrunk.scenario.workload[0].messages >= 2 * n + 1);
  CHECK(shrunk.scenario.workload[0].messages <= 2 * n + 2);

  // What is written is a scenario that fails in the same way, without searching.
  const RunResult again = run_text(
      "connection: {qps: 2, retry_count: 0, timeout: 1}\n"
      "workload: [{operation: write, size: 1 KiB, messages: 4000, depth: 8}]\n" +
      text_of_faults(shrunk.scenario));
  REQUIRE(again.failures.size() >= 1);
  CHECK_THAT(again.failures[0], Contains("RETRY_EXC_ERR"));
  CHECK(again.faults.size() == 1);
}

TEST_CASE("a run that fails without faults needs none", "[shrink]") {
  const Shrunk shrunk = shrunk_of(
      "connection: {rnr_retry: 0}\n"
      "workload: [{operation: send, size: 64 B, messages: 400, depth: 64, receive_depth: 1}]\n"
      "faults: [{action: duplicate, from: 0, per_million: 100000}]\n");
  CHECK(shrunk.repeats);
  CHECK(shrunk.scenario.faults.empty());
}

TEST_CASE("faults behind the failure go first, and a run ends where it cannot fail any more",
          "[shrink]") {
  // 200000 messages take 17 ms and more at 100 Gb/s (1 KiB each); the first loss ends the run.
  const std::string text =
      "connection: {qps: 1, retry_count: 0, timeout: 1}\n"
      "workload: [{operation: write, size: 1 KiB, messages: 200000, depth: 8}]\n"
      "faults: [{action: drop, from: 0, per_million: 1000}]\n";
  const RunResult failed = run_text(text);
  REQUIRE(failed.failed_at > 0);
  u64 longest = 0;
  ShrinkHooks hooks;
  hooks.after_run = [&](const Shrunk& best) {
    longest = std::max(longest, best.result.picoseconds);
  };
  const Shrunk shrunk = shrink(parse_scenario(text, "s.yaml"), failed, hooks);
  REQUIRE(shrunk.repeats);
  CHECK(shrunk.scenario.faults.size() == 1);
  CHECK(longest <= 2 * failed.failed_at + 20'000'000);  // two slices of 10 us
}

TEST_CASE("a search that is stopped keeps the best so far", "[shrink]") {
  const std::string text =
      "connection: {qps: 2, retry_count: 0, timeout: 1}\n"
      "workload: [{operation: write, size: 1 KiB, messages: 4000, depth: 8}]\n"
      "faults:\n"
      "  - {action: duplicate, from: 0, per_million: 50000}\n"
      "  - {action: drop, from: 0, per_million: 3000}\n";
  unsigned better = 0;
  ShrinkHooks hooks;
  hooks.better = [&](const Shrunk&) { ++better; };
  hooks.stop = [&] { return better == 3; };
  const Shrunk shrunk = shrink(parse_scenario(text, "s.yaml"), run_text(text), hooks);
  CHECK(shrunk.stopped);
  CHECK(shrunk.repeats);
  CHECK(better == 3);
  CHECK_THAT(shrunk.result.failures.at(0), Contains("RETRY_EXC_ERR"));
}

// SPDX-License-Identifier: Apache-2.0
// Selective repeat under loss, in runs of the chip: docs/design/selective_repeat.md. A run checks
// all data.
#include <algorithm>

#include "testbench/report/report.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
u64 counter_of(const RunResult& result, std::string_view name) {
  const auto found = std::ranges::find(result.counters, name, &CounterValue::name);
  return found == result.counters.end() ? 0 : found->value;
}
const std::string kSelective = "hca.transport.recovery=selective_repeat";

RunResult run_lossy(const std::string& workload, u32 per_million,
                    std::vector<std::string> settings) {
  settings.push_back("connection.timeout=6");
  FreshKernel kernel;
  const std::string text =
      "workload:\n" + workload +
      "\nfaults:\n  - {action: drop, per_million: " + std::to_string(per_million) + "}\n";
  Runner runner(parse_scenario(text, "test.yaml", settings), {});
  RunResult result = runner.run();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  return result;
}
}  // namespace

TEST_CASE("scenario loss: selective repeat sends one packet again for each that is lost",
          "[scenarios][selective_repeat]") {
  // 512 kept packets of 1024 B need 600 KB of the receive buffer.
  const RunResult back = run_ready("loss"),
                  selective = run_ready("loss", {kSelective, "hca.link_control.buffer=1 MiB"});
  CHECK(counter_of(back, "hca0.requester.resent") > 3 * 100);
  CHECK(counter_of(selective, "hca0.requester.resent") == 3);
  CHECK(counter_of(selective, "hca0.requester.timeouts") == 0);
  CHECK(selective.sizes.at(0).bandwidth->gigabits_per_second(65536) >
        back.sizes.at(0).bandwidth->gigabits_per_second(65536));
}

TEST_CASE("each operation is delivered under loss, with fewer packets sent again",
          "[scenarios][selective_repeat]") {
  const std::string workload =
      GENERATE("  - {operation: write, size: 64 KiB, messages: 100, depth: 16}",
               "  - {operation: send, size: 10000 B, messages: 400, depth: 32}",
               "  - {operation: write, size: 64 B, messages: 3000, depth: 64, qps: 4}",
               "  - {operation: read, size: 20000 B, messages: 200, depth: 16}",
               "  - {operation: fetch_add, size: 8 B, messages: 1000, depth: 16}",
               "  - {mix: {write: 2, send: 1, read: 1}, size: 6000 B, messages: 600, depth: 32}");
  const u32 lost = GENERATE(1000, 20000);
  CAPTURE(workload, lost);
  const RunResult back = run_lossy(workload, lost, {});
  const RunResult selective = run_lossy(workload, lost, {kSelective});
  const RunResult narrow =
      run_lossy(workload, lost, {kSelective, "hca.transport.reorder_window=8"});
  for (const RunResult* result : {&selective, &narrow})
    CHECK(counter_of(*result, "hca0.requester.resent") <=
          counter_of(back, "hca0.requester.resent"));
}

TEST_CASE("the packets that are kept and under way have a bound", "[scenarios][selective_repeat]") {
  // 2 * 10 us of wire and the chips' part: 8 packets of 1 KiB each time, far less than the link.
  const auto run = [](const std::string& window) {
    return run_workload("  - {operation: write, size: 64 KiB, messages: 50, depth: 16}\n",
                        {kSelective, "wire.latency=10 us", "hca.link_control.mode=lossy",
                         "hca.transport.reorder_window=" + window})
        .sizes.at(0)
        .bandwidth->gigabits_per_second(65536);
  };
  const double narrow = run("8"), twice = run("16");
  CHECK(narrow < 8 * 8192 / 20000.0);
  CHECK(narrow > 8 * 8192 / 30000.0);
  CHECK(twice == Approx(2 * narrow).epsilon(0.1));
  CHECK(run("512") > 80);
}

TEST_CASE("a run with selective repeat says that it does not conform",
          "[scenarios][selective_repeat]") {
  const auto head = [](const std::vector<std::string>& settings) {
    const Scenario scenario = parse_scenario(
        "workload:\n  - {operation: write, size: 64 B, messages: 10}\n", "s.yaml", settings);
    FreshKernel kernel;
    Runner runner(scenario, {});
    return text_of(runner.run(), scenario);
  };
  CHECK(head({}).find("not conforming") == std::string::npos);
  CHECK(head({kSelective}).find("not conforming: hca.transport.recovery: selective_repeat") !=
        std::string::npos);
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Hashes and figures of runs whose ways to run differ.
#include <fmt/format.h>

#include "testbench/report/report.h"
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
namespace {
// When this run ends a chip is about to tell of its credits, which it does now and then for ever:
// with long quanta it has done so already.
const std::string kText =
    "connection: {framing: ib_local, timeout: 5}\n"
    "hca: {qp_scheduler: {pushes: 2, batch: 1, turns: 2, policy: weighted},\n"
    "  requester: {engines: 1, engine_interval: 50 cycles},\n"
    "  responder_execute: {engines: 1, engine_queue: 2},\n"
    "  packetizer: {buffers: 1, tx_start: threshold}, qp_cache: {entries: 8, misses: 4},\n"
    "  wqe_cache: {entries: 32, policy: fifo, acks: true},\n"
    "  link_control: {mode: credits, buffer: 8 KiB, lanes: 4}}\n"
    "pcie: {read_tags: 2, completion_order: by_memory}\n"
    "workload:\n"
    "  - {mix: {send: 1, read: 1, send_immediate: 1}, sizes: [{size: 0 B, weight: 1},\n"
    "     {size: 16 B, weight: 6}, {size: 100 B, weight: 4}, {size: 1000 B, weight: 2},\n"
    "     {size: 5 KiB, weight: 1}], qps: 2, depth: 8, messages: 800, list: 4,\n"
    "     inline_below: 101 B, push: false, signal_every: 1, qp_order: random, fence: true,\n"
    "     service_level: 1, sges: 3}\n";

// summary.json without the knobs, of which the quantum is one.
std::string figures(const char* quantum) {
  const Scenario scenario =
      parse_scenario(kText, "test.yaml", {"run.hash=true", std::string("run.quantum=") + quantum});
  const RecordedRun run = run_recorded(scenario);
  CHECK(run.result.failures.empty());
  nlohmann::json all = json_of(run.result, scenario);
  all.erase("knobs"), all.erase("knobs_changed");
  all["recording"] = run.record;
  return all.dump(1);
}
}  // namespace

TEST_CASE("a hash is of what happens before the end, whatever the quantum", "[run][hash]") {
  const auto hash = [&](const char* quantum) {
    return run_text(kText, {"run.hash=true", std::string("run.quantum=") + quantum}).hash.value();
  };
  const u64 longest = hash("0 cycles");
  CHECK(longest != 0);
  CHECK(hash("1 cycle") == longest);
  CHECK(hash("10 cycles") == longest);
}

TEST_CASE("figures are of the same time, whatever the quantum", "[run][figures]") {
  const std::string longest = figures("0 cycles");
  for (const char* quantum : {"1 cycle", "2 cycles", "10 cycles"}) {
    const std::string other = figures(quantum);
    const auto at = std::size_t(std::ranges::mismatch(longest, other).in1 - longest.begin());
    const std::size_t line = longest.rfind('\n', at) + 1;
    CAPTURE(quantum, longest.substr(line, 120), other.substr(std::min(line, other.size()), 120));
    CHECK(bool(other == longest));
  }
}

// The chips are 30 us ahead, and asleep when all has arrived: nobody has seen it yet.
TEST_CASE("what arrives over a long wire is awaited, whatever the quantum", "[run]") {
  for (const char* quantum : {"0 cycles", "1 cycle"}) {
    const RunResult result =
        run_workload("  - {operation: send, size: 512 B, messages: 300, qps: 4, threads: 2}\n",
                     {"connection.service=ud", "wire.latency=30 us",
                      "hca.link_control.buffer=1 MiB", std::string("run.quantum=") + quantum});
    CHECK(result.messages == 300);
    CHECK(result.lost == 0);
  }
}

TEST_CASE("recorded or not, a run has the same hash where PCIe is the limit", "[run]") {
  const u32 bytes = GENERATE(257u, 384u, 512u, 513u);  // of two TLPs of 256 bytes, and of three
  CAPTURE(bytes);
  Scenario scenario = parse_scenario(
      fmt::format("run.hash: true\npcie: {{lanes: 4}}\n"
                  "workload: [{{operation: write, size: {} B, messages: 300, depth: 64}}]\n",
                  bytes),
      "test.yaml");
  const auto hash = [&](bool metered) {
    FreshKernel kernel;
    scenario.metered = metered;
    return Runner(scenario, {}).run().hash;
  };
  CHECK(hash(false) == hash(true));
}

TEST_CASE(
    "a lost message of UC, and a frame that is held, are given up at the same time in any mode",
    "[run]") {
  const std::string text = GENERATE(
      "connection.service: uc\n"
      "workload:\n  - {operation: write, size: 64 B, messages: 20, depth: 1}\n"
      "  - {operation: write, size: 64 B, messages: 20, depth: 1}\n"
      "faults:\n  - {action: drop, from: 0, occurrence: 5}\n",
      "connection.service: ud\n"
      "workload:\n  - {operation: send, size: 64 B, messages: 20, depth: 1}\n"
      "faults:\n  - {action: reorder, from: 0, occurrence: 19}\n");
  const auto hash = [&](const char* setting) {
    return run_text(text, {"run.hash=true", setting}).hash;
  };
  CHECK(hash("run.every_cycle=false") == hash("run.every_cycle=true"));
}

// The first stream ends in the cycle in which a slice of the kernel does.
TEST_CASE("the next stream begins at the same time, however far a chip has run ahead", "[run]") {
  const char* post = GENERATE("host.post_send=9969 ns", "host.post_send=9970 ns");
  const auto hash = [&](const char* quantum) {
    return run_text(
               "hca.core.clock: 1 GHz\n"
               "workload:\n  - {operation: send, size: 64 B, messages: 1, depth: 1}\n"
               "  - {operation: send, size: 64 B, messages: 1, depth: 1}\n",
               {"run.hash=true", post, quantum})
        .hash;
  };
  CHECK(hash("run.quantum=0 cycles") == hash("run.quantum=1 cycle"));
}

TEST_CASE("two entries of one operation and size have a row each", "[run]") {
  const RunResult r = run_text(
      "workload:\n  - {operation: write, size: 4 KiB, messages: 100, depth: 1}\n"
      "  - {operation: write, size: 4 KiB, test: latency, messages: 20}\n"
      "  - {operation: write, size: 4 KiB, messages: 200, depth: 64}\n");
  REQUIRE(r.sizes.size() == 2);
  CHECK(r.sizes[0].bandwidth->messages == 100);
  CHECK(r.sizes[0].latency.has_value());
  CHECK(r.sizes[1].bandwidth->messages == 200);
  CHECK_FALSE(r.sizes[1].latency.has_value());
}
}  // namespace hca::testbench

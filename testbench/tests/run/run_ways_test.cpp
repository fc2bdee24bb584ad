// SPDX-License-Identifier: Apache-2.0
// The figures of a run are the same in all ways to run it.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "testbench/run/run.h"
#include "testbench/run/run_recorder.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
struct Recorded {
  RunResult result;
  nlohmann::json record;
};
Recorded record(const std::string& text, const std::string& way) {
  FreshKernel kernel;
  Scenario scenario = parse_scenario(text, "test.yaml",
                                     way.empty() ? std::vector<std::string>{} : std::vector{way});
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  Recorded r{runner.run(), {}};
  for (const std::string& failure : r.result.failures) FAIL_CHECK(failure);
  r.record = recorder.json();
  return r;
}
// The first place where two of them differ.
std::string difference(const nlohmann::json& a, const nlohmann::json& b) {
  const nlohmann::json patch = nlohmann::json::diff(a, b);
  if (patch.empty()) return "";
  const nlohmann::json::json_pointer place(patch[0].at("path").get<std::string>());
  return place.to_string() + ": " + (a.contains(place) ? a[place].dump() : "(none)") + ", " +
         (b.contains(place) ? b[place].dump() : "(none)");
}

const char* const kScenarios[] = {
    // A port with long pauses between messages.
    "hca: {core: {clock: 800 MHz}}\n"
    "workload: [{operation: send, size: 64 B, inline_below: 65 B, message_rate: 100000,"
    " messages: 60}]\n",
    "workload:\n"
    "  - {mix: {write: 2, read: 1, send: 1}, sizes: [{size: 64 B}, {size: 3000 B}], qps: 4,"
    " messages: 400, direction: both}\n"
    "  - {operation: fetch_add, messages: 60, qps: 2}\n",
    "hca: {qp_cache: {entries: 8}}\nconnection: {qps: 32}\n"
    "workload: [{operation: write, size: 256 B, depth: 4, messages: 1500, threads: 4}]\n",
    "host1: {wait: event}\nconnection: {moderation_count: 3, moderation_period: 20 us}\n"
    "workload: [{operation: send, size: 64 B, response: 300 B, serve_time: 1 us, serve: "
    "exponential,"
    " qps: 3, message_rate: 200000, arrivals: exponential, messages: 200}]\n",
    "host: {queue_lock: 60 ns, queue_contention: 10 ns, doorbell_lock: 20 ns, doorbell_registers: "
    "2}\n"
    "workload: [{operation: send, size: 64 B, qps: 2, threads: 3, share_qps: true, depth: 8,"
    " messages: 600}]\n",
    "connection: {timeout: 8}\n"
    "faults: [{action: drop, from: 0, per_million: 20000}]\n"
    "workload: [{operation: write, size: 2 KiB, depth: 8, messages: 300}]\n",
    // Doorbells that wait for credits of the HCA, behind those that wait for their register.
    "hca: {doorbell: {interval: 60 cycles}}\npcie: {device_posted_headers: 3}\n"
    "host: {doorbell_lock: 30 ns, doorbell_registers: 2}\n"
    "workload: [{operation: write, size: 64 B, qps: 6, threads: 3, depth: 8, messages: 600}]\n",
    // Walks of pages, also before the part begins; then long pauses.
    "pcie: {iommu_entries: 8, iommu_walkers: 4, iommu_walk: 500 ns}\n"
    "workload: [{operation: read, size: 64 B, message_rate: 200000, messages: 40, qps: 3}]\n"};
}  // namespace

// record.peaks has the peak of each buffer.
TEST_CASE("summary and series are the same in all ways to run", "[ways]") {
  const char* const text =
      GENERATE(from_range(std::vector(std::begin(kScenarios), std::end(kScenarios))));
  const Recorded plain = record(text, "");
  for (const char* way : {"run.every_cycle=true", "run.shuffle_seed=5", "run.quantum=1 cycles",
                          "run.quantum=7 cycles"}) {
    INFO(text << way);
    const Recorded other = record(text, way);
    CHECK(difference(plain.record, other.record) == "");
    CHECK(plain.result.picoseconds == other.result.picoseconds);
  }
}

// 100 000 messages a second: 10 us from one to the next, of which a packet and its answer take
// less than 50 ns in each port.
TEST_CASE("a port that is idle most of the time is shown so", "[ways]") {
  const Recorded run = record(kScenarios[0], "");
  for (const auto& block : run.record.at("phases").at(0).at("blocks"))
    if (block.at("block").get<std::string>().find(" port") != std::string::npos)
      CHECK(block.at("share").get<double>() < 0.01);
}
}  // namespace hca::testbench

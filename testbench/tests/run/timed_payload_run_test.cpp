// SPDX-License-Identifier: Apache-2.0
// run.payload: timed. All that happens is the same, at the same time, as with the bytes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "testbench/scenario/chip_rules.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
RunResult run_with(Scenario scenario, blocks::Payload payload) {
  FreshKernel kernel;
  scenario.run.hash = true;
  scenario.run.pcap = false;
  scenario.run.payload = payload;
  Runner runner(scenario, {});
  return runner.run();
}

std::vector<std::string> faults_of(const RunResult& result) {
  std::vector<std::string> lines;
  for (const WireFault& fault : result.faults) lines.push_back(to_string(fault.record));
  return lines;
}

// Runs a scenario with and without its bytes; returns the run without.
RunResult compare(const Scenario& scenario) {
  const RunResult carried = run_with(scenario, blocks::Payload::Carried),
                  timed = run_with(scenario, blocks::Payload::Timed);
  CHECK(carried.failures == std::vector<std::string>());
  CHECK(timed.failures == std::vector<std::string>());
  CHECK(timed.hash.value() == carried.hash.value());
  CHECK(timed.picoseconds == carried.picoseconds);
  CHECK(timed.messages == carried.messages);
  CHECK(timed.frames == carried.frames);
  CHECK(timed.lost == carried.lost);
  CHECK(timed.duplicates == carried.duplicates);
  CHECK(faults_of(timed) == faults_of(carried));
  REQUIRE(timed.counters.size() == carried.counters.size());
  for (std::size_t i = 0; i < timed.counters.size(); ++i) {
    INFO(timed.counters[i].name);
    CHECK(timed.counters[i].value == carried.counters[i].value);
  }
  return timed;
}

RunResult compare_text(const std::string& text) {
  INFO(text);
  return compare(parse_scenario(text, "test.yaml", {}));
}

const std::string kFaults =
    "faults:\n"
    "  - {action: drop, from: 0, per_million: 10000}\n"
    "  - {action: duplicate, from: 1, per_million: 10000}\n"
    "  - {action: reorder, from: 0, per_million: 10000}\n"
    "  - {action: delay, from: 1, per_million: 10000, delay: 3 us}\n"
    "  - {action: corrupt, from: 0, per_million: 20000}\n"
    "  - {action: corrupt, from: 1, per_million: 20000}\n"
    "  - {action: mark_ecn, from: 0, per_million: 20000}\n";
const std::string kAllOperations =
    "workload:\n"
    "  - {mix: {write: 3, send: 3, read: 3, write_immediate: 1, send_immediate: 1, compare_swap: 1,"
    " fetch_add: 1}, sizes: [{size: 0 B}, {size: 3 B}, {size: 8 B}, {size: 9 B}, {size: 64 B},"
    " {size: 1023 B}, {size: 5000 B}], messages: 800, qps: 4, direction: both}\n";
const std::string kDatagrams =
    "workload:\n"
    "  - {mix: {send: 1, send_immediate: 1}, sizes: [{size: 0 B}, {size: 5 B}, {size: 64 B},"
    " {size: 1000 B}], messages: 800, qps: 4, direction: both}\n";
}  // namespace

TEST_CASE("each ready scenario runs the same without its bytes", "[timed]") {
  std::vector<std::string> files;
  const std::string folder = std::string(HCA_SOURCE_DIR) + "/testbench/scenarios";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files.push_back(entry.path().string());
  std::ranges::sort(files);
  REQUIRE(files.size() > 20);
  const std::string file = GENERATE_COPY(from_range(files));
  INFO(file);
  Scenario scenario = load_scenario(file, {});
  constexpr u64 kMost = 500;  // messages of an entry
  for (WorkloadConfig& w : scenario.workload)
    if (!w.messages || w.messages > kMost) w.messages = kMost;
  compare(scenario);
}

TEST_CASE("faults, framings and sizes: the same without bytes", "[timed]") {
  const std::string framing =
      GENERATE("rocev2_ip4", "rocev2_ip6", "rocev1", "ib_local", "ib_global");
  const RunResult result = compare_text("connection: {framing: " + framing + ", timeout: 8}\n" +
                                        kAllOperations + kFaults);
  CHECK(counter(result, "hca1.port.rx_bad_icrc") > 0);
}

TEST_CASE("services that lose: each message is known without its bytes", "[timed]") {
  const std::string framing = GENERATE("rocev2_ip4", "ib_local", "ib_global");
  const std::string connection = "connection: {framing: " + framing;
  const RunResult ud = compare_text(connection + ", service: ud}\n" + kDatagrams + kFaults);
  CHECK(ud.lost > 0);
  CHECK(ud.duplicates > 0);
  compare_text(connection + ", service: ud, srq: true}\n" + kDatagrams + kFaults);
  const RunResult uc = compare_text(
      connection + ", service: uc}\n" +
      "workload:\n"
      "  - {mix: {write: 3, send: 3, write_immediate: 1, send_immediate: 1}, sizes: [{size: 0 B},"
      " {size: 9 B}, {size: 64 B}, {size: 5000 B}], messages: 800, qps: 4, direction: both}\n" +
      kFaults);
  CHECK(uc.lost > 0);
}

TEST_CASE("what else moves payload: the same without bytes", "[timed]") {
  // XRC, RD, an SRQ
  compare_text("hca.transport.xrc: true\nconnection: {service: xrc, timeout: 8, xrc_srqs: 3}\n" +
               kAllOperations + kFaults);
  compare_text("hca.transport.rd: true\nconnection: {service: rd, timeout: 6}\n" + kAllOperations +
               kFaults);
  compare_text("connection: {srq: true, timeout: 8}\n" + kAllOperations + kFaults);
  // Selective repeat keeps packets.
  compare_text("hca.transport.recovery: selective_repeat\nconnection: {timeout: 8}\n" +
               kAllOperations + kFaults);
  // Several reads and writes for a packet, inline data, pushes.
  compare_text(
      "connection: {timeout: 8}\nworkload:\n"
      "  - {mix: {write: 1, send: 1, read: 1}, sizes: [{size: 11 B}, {size: 3000 B}],"
      " sges: 5, messages: 400}\n"
      "  - {mix: {write: 1, send: 1}, sizes: [{size: 11 B}, {size: 90 B}], inline_below:"
      " 100 B, push: true, messages: 400}\n" +
      kFaults);
  // Optional operations; ATOMIC WRITE has its 8 bytes.
  compare_text(
      "hca.transport: {atomic_write: true, flush: true, extended: true}\n"
      "connection: {timeout: 8}\nworkload:\n"
      "  - {operation: atomic_write, messages: 200}\n"
      "  - {operation: flush, size: 3000 B, messages: 200}\n"
      "  - {mix: {extended_put: 2, extended_get: 2, send: 1}, size: 5000 B, messages: 300}\n"
      "  - {operation: send_invalidate, size: 3000 B, messages: 100}\n" +
      kFaults);
  // Two ports.
  compare_text(
      "hca.core.ports: 2\nconnection: {timeout: 8}\nworkload:\n"
      "  - {operation: write, size: 3000 B, messages: 300, together: true}\n"
      "  - {operation: read, size: 3000 B, messages: 300, port: 2, together: true}\n" +
      kFaults);
  // PCIe by TLPs with an IOMMU; caches of contexts read the headers of packets before the ICRC is
  // checked.
  compare_text(
      "pcie: {iommu_entries: 64, read_tags: 32}\nhca: {qp_cache: {entries: 2}, mpt_cache:"
      " {entries: 4}, mtt_cache: {entries: 4}}\nconnection: {timeout: 8}\n" +
      kAllOperations + kFaults);
  // Buffers in a working set of many regions.
  for (const char* where : {"address: random", "address: strided, stride: 5056 B"})
    compare_text(
        "hca: {mpt_cache: {entries: 4}, mtt_cache: {entries: 4}}\nconnection: {timeout: 8}\n"
        "workload:\n  - {mix: {write: 3, send: 3, read: 3, fetch_add: 1}, sizes: [{size: 8 B},"
        " {size: 5000 B}], messages: 800, qps: 4, depth: 16, direction: both, working_set: 16 MiB,"
        " regions: 32, " +
        std::string(where) + "}\n" + kFaults);
  // A wire that breaks bits.
  compare_text("wire: {fec: false, bit_errors: 6}\nconnection: {timeout: 8}\n" + kAllOperations);
}

TEST_CASE("flow control counts bytes that are not there", "[timed]") {
  compare_text(
      "hca.responder_execute.outcomes: 1024\nhca.link_control: {mode: pause, buffer: 40000 B, "
      "xoff: 16 KiB, xon: 8 KiB}\n" +
      kAllOperations);
  compare_text(
      "hca.responder_execute.outcomes: 1024\nhca.link_control: {mode: credits, buffer: 40000 "
      "B}\nconnection: {framing: ib_local}\n" +
      kAllOperations);
}

TEST_CASE("a timed message is checked by its first 8 bytes", "[timed]") {
  const RunResult result = compare_text(
      "workload:\n  - {operation: write, sizes: [{size: 5000 B}], messages: 100}\n"
      "  - {operation: write, sizes: [{size: 5 B}], messages: 100}\n");
  CHECK(result.bytes_checked == 100 * 8 + 100 * 5);
}

TEST_CASE("what needs all bytes is refused with timed", "[timed]") {
  const std::string work = "workload: [{operation: write, size: 64 B}]\n";
  CHECK(error_of("run: {payload: timed, pcap: true}\n" + work) ==
        "s.yaml:1: run.pcap: a capture has all bytes of each frame, which run.payload: timed does "
        "not move; allowed: run.payload: carried, or run.pcap: false");
  Scenario with_rtl = parse_scenario("run: {payload: timed}\n" + work, "s.yaml", {});
  CHECK(chip_mistakes(with_rtl).empty());
  REQUIRE(with_rtl.rtl.add("icrc").empty());
  const std::vector<ChipMistake> mistakes = chip_mistakes(with_rtl);
  REQUIRE(mistakes.size() == 1);
  CHECK(mistakes[0].problem.starts_with("timed is set with rtl"));
  CHECK(error_of("run: {payload: none}\n" + work).find("carried") != std::string::npos);
  CHECK(error_of("run: {payload: timed}\n" + work) == "(none)");
}
}  // namespace hca::testbench

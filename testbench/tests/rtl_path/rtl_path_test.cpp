// SPDX-License-Identifier: Apache-2.0
// RTL blocks, and blocks of a user's own, in the places of units of the path.
#include <catch2/catch.hpp>

#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

constexpr const char* kMixed =
    "workload:\n"
    "  - {mix: {write: 3, send: 3, read: 3, write_immediate: 1, fetch_add: 1, compare_swap: 1},"
    " sizes: [{size: 0 B}, {size: 9 B}, {size: 500 B}, {size: 5 KiB}], messages: 60, qps: 4,"
    " direction: both}\n";
constexpr const char* kBadWire =
    "faults:\n"
    "  - {action: drop, occurrence: 0, per_million: 20000}\n"
    "  - {action: duplicate, occurrence: 0, per_million: 20000}\n"
    "  - {action: reorder, occurrence: 0, per_million: 20000}\n"
    "  - {action: corrupt, occurrence: 0, per_million: 20000}\n";

std::string with(RtlChoice rtl, const std::string& text) {
  return "run: {hash: true, seed: 5}\nrtl: [" + rtl.text() + "]\n" + text;
}
}  // namespace

TEST_CASE("a run with RTL in the path is the run without", "[rtl][run]") {
  const std::string text =
      GENERATE("connection: {timeout: 6, min_rnr_timer: 1}\n",
               "connection: {timeout: 6, min_rnr_timer: 1, srq: true, framing: rocev1}\n",
               "connection: {timeout: 6, path_mtu: 256, framing: ib_global}\nhca: {core: {ports: "
               "2}, port: {rx_forward: store}, icrc_unit: {beat_bytes: 32 B}}\n") +
      std::string(kMixed) + kBadWire;
  INFO(text);
  const RunResult without = run_text(with({}, text));
  CHECK(all(without.failures) == "");
  CHECK(without.messages > 100);
  for (u32 bits = 1; bits <= RtlChoice::all().bits; ++bits) {  // all combinations
    INFO(RtlChoice::of(bits).text());
    const RunResult result = run_text(with(RtlChoice::of(bits), text));
    CHECK(all(result.failures) == "");
    CHECK(result.hash == without.hash);
  }
}

TEST_CASE("unreliable services with RTL in the path are those without", "[rtl][run]") {
  const std::string text =
      GENERATE(
          "connection: {service: uc, framing: rocev2_ip6}\nworkload:\n  - {mix: {write: 1, "
          "send: 1, write_immediate: 1}, sizes: [{size: 9 B}, {size: 3 KiB}], messages: 60}\n",
          "connection: {service: ud, framing: ib_local}\nworkload:\n  - {operation: send, "
          "size: 700 B, messages: 60}\n") +
      std::string(kBadWire);
  const RunResult without = run_text(with({}, text));
  const RunResult result = run_text(with(RtlChoice::all(), text));
  CHECK(without.messages > 10);
  CHECK(result.hash == without.hash);
  CHECK(result.messages == without.messages);
}

TEST_CASE("RD with RTL in the path is RD without", "[rtl][run][G13.1]") {
  const std::string text =
      "connection: {service: rd, timeout: 6, min_rnr_timer: 1}\nhca: {transport: {rd: true}}\n" +
      std::string(kMixed) + kBadWire;
  const RunResult without = run_text(with({}, text));
  CHECK(all(without.failures) == "");
  CHECK(without.messages > 100);
  for (const std::string_view block : {"requester_psn", "responder_check", "all"}) {
    INFO(block);
    RtlChoice choice;
    REQUIRE(choice.add(block).empty());
    const RunResult result = run_text(with(choice, text));
    CHECK(all(result.failures) == "");
    CHECK(result.hash == without.hash);
  }
}

TEST_CASE("what the RTL has fixed is no knob", "[rtl][scenario]") {
  const std::string work = "workload: [{operation: send, size: 64 B}]\n";
  CHECK(error_of("rtl: [icrc, rx_parser]\n" + work) == "(none)");
  CHECK(error_of("rtl: all\n" + work) == "(none)");
  CHECK_THAT(error_of("rtl: [icrc, packetiser]\n" + work),
             Contains("s.yaml:1: rtl[1]: \"packetiser\" is no RTL block; allowed: icrc, "
                      "packetizer, ") &&
                 Contains("did you mean \"packetizer\"?"));
  CHECK_THAT(error_of("rtl: {icrc: true}\n" + work), Contains("rtl.icrc"));
  CHECK_THAT(
      error_of("hca.icrc_unit.latency: 7 cycles\nrtl: [icrc]\n" + work),
      Contains("s.yaml:2: rtl[0]: hca0.icrc_unit.latency is 7; allowed: 5 with rtl/icrc/icrc.sv "
               "in the path"));
  CHECK(error_of("hca.icrc_unit.latency: 7 cycles\nrtl: [packetizer]\n" + work) == "(none)");
  CHECK_THAT(error_of("hca1.responder_check.interval: 2 cycles\nrtl: [responder_check]\n" + work),
             Contains("hca1.responder_check.interval is 2; allowed: 1") && !Contains("hca0."));
  CHECK_THAT(error_of("hca.icrc_unit.beat_bytes: 128 B\nrtl: [responder_check]\n" + work),
             Contains("hca1.icrc_unit.beat_bytes is 128 B; allowed: 32 B or 64 B"));
}

TEST_CASE("names of RTL blocks are read as they are written", "[rtl]") {
  RtlChoice choice;
  CHECK(choice.add("icrc , rx_parser") == "");
  CHECK(choice.text() == "icrc, rx_parser");
  CHECK(choice.has(RtlBlock::Icrc));
  CHECK_FALSE(choice.has(RtlBlock::Packetizer));
  CHECK(choice.add("") != "");
  CHECK(choice.add("icrc,,rx_parser") != "");
  CHECK(choice.text() == "icrc, rx_parser");
  CHECK(choice.add("[packetizer, completion]") == "");
  CHECK(choice.text() == "icrc, packetizer, rx_parser, completion");
  CHECK(choice.add("[requester_psn") != "");
  CHECK(choice.add("requester_psn, icrc") == "\"icrc\" occurs twice");
  CHECK_FALSE(choice.has(RtlBlock::RequesterPsn));
  CHECK(choice.add("all") == "");
  for (unsigned i = 0; i < unsigned(RtlBlock::Count); ++i) CHECK(choice.has(RtlBlock(i)));
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/scenario.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <catch2/catch.hpp>

#include "testbench/report/report.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;
using Catch::Matchers::Equals;

}  // namespace

TEST_CASE("a scenario sets knobs by path, nested or dotted", "[scenario]") {
  const Scenario s = parse_scenario(
      "hca:\n"
      "  requester: {latency: 7 cycles}\n"
      "  port: {link_rate: 200 Gb/s}\n"
      "hca.doorbell.latency: 9 cycles\n"
      "hca1.requester.latency: 8 cycles\n"
      "pcie: {generation: 4}\n"
      "wire: {latency: 1.5 us}\n"
      "connection: {framing: rocev2_ip6, path_mtu: 4096}\n"
      "run: {seed: 42}\n",
      "s.yaml");
  CHECK(s.nodes[0].hca.requester.latency == 7);
  CHECK(s.nodes[1].hca.requester.latency == 8);
  CHECK(s.nodes[0].hca.doorbell.latency == 9);
  CHECK(s.nodes[1].hca.doorbell.latency == 9);
  CHECK(s.nodes[1].hca.port[0].link_rate == 200'000'000'000);
  CHECK(s.nodes[0].pcie.generation == 4);
  CHECK(s.nodes[1].pcie.generation == 4);
  CHECK(s.cables[0].wire.latency == 1'500'000);
  CHECK(s.connection.framing == proto::Framing::RoceV2Ip6);
  CHECK(bytes_of_mtu(s.connection.path_mtu) == 4096);
  CHECK(s.run.seed == 42);
  CHECK(s.workload.size() == default_scenario().workload.size());
}

TEST_CASE("what is for one chip wins over what is for both, in any order", "[scenario]") {
  const Scenario s = parse_scenario(
      "hca0.requester.latency: 3 cycles\nhca.requester.latency: 5 cycles\n", "s.yaml");
  CHECK(s.nodes[0].hca.requester.latency == 3);
  CHECK(s.nodes[1].hca.requester.latency == 5);
}

TEST_CASE("what is set beside the file wins over what the file says of one side or port",
          "[scenario]") {
  const std::string file = "hca0.requester.latency: 3 cycles\nhca1.port1.latency: 9 cycles\n";
  const Scenario s = parse_scenario(
      file, "s.yaml", {"hca.requester.latency=5 cycles", "hca.port.latency=7 cycles"});
  CHECK(s.nodes[0].hca.requester.latency == 5);
  CHECK(s.nodes[1].hca.port[0].latency == 7);
  // Of one side it wins over the same of both, and leaves the other side alone.
  const Scenario one = parse_scenario(
      file, "s.yaml", {"hca1.requester.latency=4 cycles", "hca.port.latency=7 cycles"});
  CHECK(one.nodes[0].hca.requester.latency == 3);
  CHECK(one.nodes[1].hca.requester.latency == 4);
  const Scenario both = parse_scenario(
      "", "s.yaml", {"hca1.requester.latency=4 cycles", "hca.requester.latency=7 cycles"});
  CHECK(both.nodes[0].hca.requester.latency == 7);
  CHECK(both.nodes[1].hca.requester.latency == 4);
}

TEST_CASE("a preset of a device that only does DMA is no HCA", "[scenario]") {
  CHECK_THAT(error_of("preset: pcie_gen3x8\n"),
             Contains("s.yaml:1: preset: a device that only does DMA") &&
                 Contains("; allowed: connectx3, ") && !Contains(", pcie_gen3x8") &&
                 !Contains("dma_client"));
}

TEST_CASE("workloads and faults are lists", "[scenario]") {
  const Scenario s = parse_scenario(
      "workload:\n"
      "  - {operation: send, test: latency, from: 32 B, to: 32 KiB, messages: 100}\n"
      "  - {operation: write, depth: 16}\n"
      "faults:\n"
      "  - {action: drop, from: 1, psn: 5, occurrence: 2}\n"
      "  - {action: delay, delay: 3 us, occurrence: 0, per_million: 10}\n",
      "s.yaml");
  REQUIRE(s.workload.size() == 2);
  CHECK(s.workload[0].operation == Operation::Send);
  CHECK(s.workload[0].test == Test::Latency);
  CHECK(s.workload[0].to == 32768);
  CHECK(s.workload[1].depth == 16);
  const auto rules = s.fault_rules(ends_in_pair(0));
  REQUIRE(rules.size() == 2);
  CHECK(rules[0].direction == 1);
  CHECK(rules[0].psn == 5u);
  CHECK_FALSE(rules[0].qpn);
  CHECK(rules[0].occurrence == 2);
  CHECK(rules[1].delay == 3'000'000);
  CHECK(rules[1].occurrence == 0);
  CHECK(rules[1].per_million == 10);
}

TEST_CASE("a fault with a probability of 0 never acts", "[scenario]") {
  const auto rule = [](const std::string& keys) {
    return parse_scenario("faults: [{action: drop, from: 0" + keys + "}]\n", "s.yaml")
        .fault_rules(ends_in_pair(0))
        .at(0);
  };
  CHECK(rule("").occurrence == 1);
  CHECK(rule(", per_million: 0").occurrence == 0);
  CHECK(rule(", per_million: 0").per_million == 0);
  CHECK(rule(", per_million: 0, occurrence: 3").occurrence == 3);
  const Scenario swept = parse_scenario("faults: [{action: drop, from: 0, per_million: 9}]\n", "s",
                                        {"faults[0].per_million=0"});
  CHECK(swept.fault_rules(ends_in_pair(0)).at(0).occurrence == 0);
}

TEST_CASE("an unknown key names its line and the nearest known key", "[scenario]") {
  CHECK_THAT(error_of("hca:\n  requestr: {latency: 4 cycles}\n"),
             Equals("s.yaml:2: hca.requestr.latency: is no known key; allowed: those that "
                    "`hca config` lists; did you mean \"hca.requester.latency\"?"));
  CHECK_THAT(error_of("workload:\n  - {operatoin: write}\n"),
             Contains("s.yaml:2: workload[0].operatoin") && Contains("workload[0].operation"));
  CHECK_THAT(error_of("colour: red\n"), Contains("s.yaml:1: colour: is no known key"));
}

// Keys that stand at the same place, not those that have the same beginning.
TEST_CASE("what is meant by an unknown key is allowed where it stands", "[scenario]") {
  const auto meant = [](const std::string& text) {
    const std::string error = error_of(text);
    const auto at = error.find("did you mean \"");
    return at == error.npos ? "(none)" : error.substr(at + 14, error.rfind('"') - at - 14);
  };
  CHECK(meant("connection: {mtu: 1024}\n") == "connection.path_mtu");
  CHECK(meant("connection: {latency: 1 us}\n") == "(none)");
  CHECK(meant("wire: {loss: 1}\n") == "(none)");
  CHECK(meant("wire: {errors: 1}\n") == "wire.bit_errors");
  CHECK(meant("host: {mtu: 1}\n") == "(none)");
  CHECK(meant("host: {post_sned: 1 us}\n") == "host.post_send");
  CHECK(meant("faults: [{kind: drop}]\n") == "(none)");
  CHECK(meant("workload: [{sizes: [{sise: 8 B}]}]\n") == "workload[0].sizes[0].size");
  CHECK(meant("hca: {qp_cahce: 3}\n") == "hca.qp_cache");
}

TEST_CASE("a value out of its range names the range", "[scenario]") {
  CHECK_THAT(error_of("\npcie: {lanes: 32}\n"),
             Contains("s.yaml:2: pcie.lanes: \"32\"") && Contains("1 .. 16"));
  CHECK_THAT(error_of("connection.retry_count: 8\n"), Contains("0 .. 7"));
  CHECK_THAT(error_of("connection.path_mtu: 1000\n"), Contains("256 | 512 | 1024 | 2048 | 4096"));
}

TEST_CASE("credits that one TLP cannot have are refused once, at their knob", "[scenario]") {
  // 256 bytes are 16 credits.
  const std::string problem =
      "pcie.root_posted_data: \"3\" is too few for a write of pcie.mps; allowed: 0, or 16 .. 32752";
  CHECK(error_of("\npcie: {root_posted_data: 3}\n") == "s.yaml:2: " + problem);
  CHECK(error_of("pcie0.root_posted_data: 16\npcie1.root_posted_data: 3\n") ==
        "s.yaml:2: " + problem);
  // 512 bytes are 32.
  CHECK_THAT(error_of("pcie.root_posted_data: 16\npcie.mps: 512 B\n"),
             Contains("s.yaml:1: pcie.root_posted_data: \"16\"") && Contains("32 .. 32752"));
}

TEST_CASE("values that no device has are refused with file, line, key and range", "[scenario]") {
  const std::array<std::string, 3> rows[] = {
      {"pcie.lanes: 3", "pcie.lanes: \"3\" is no width of a link", "one of 1, 2, 4, 8, 12, 16"},
      {"pcie.mps: 300 B", "pcie.mps: \"300 B\" is no power of two",
       "128 B .. 4 KiB, a power of two"},
      {"pcie1.mrrs: 768 B", "pcie1.mrrs: \"768 B\" is no power of two", "a power of two"},
      {"hca.icrc_unit.beat_bytes: 100 B", "hca.icrc_unit.beat_bytes: \"100 B\" is no width",
       "32 B .. 512 B, a multiple of 32 B"},
      {"pcie.memory_rate: 1 b/s", "pcie.memory_rate: \"1 b/s\" is too slow to simulate",
       "0 or 1 Mb/s and more"},
      {"connection.rate_limit: 500 b/s",
       "connection.rate_limit: \"500 b/s\" is no multiple of 1 kb/s",
       "0 b/s .. 1 Tb/s, a multiple of 1 kb/s"},
      {"hca.link_control.sl_3: 15", "hca.link_control.sl_3: \"15\" is out of range", "0 .. 7"},
  };
  for (const auto& [text, problem, allowed] : rows)
    CHECK_THAT(error_of("\n" + text + "\n"), Contains("s.yaml:2: " + problem) && Contains(allowed));
}

// 10^12 / 322265625 = 3103.03, and 10^12 / 3103 = 322268772.2.
TEST_CASE("a clock is the nearest one with a period of whole picoseconds", "[scenario]") {
  struct Row {
    const char* asked;
    u64 period, hertz;
  };
  const Row row = GENERATE(Row{"400 MHz", 2500, 400'000'000}, Row{"312.5 MHz", 3200, 312'500'000},
                           Row{"322.265625 MHz", 3103, 322'268'772},
                           Row{"402.83 MHz", 2482, 402'900'886}, Row{"333 MHz", 3003, 333'000'333},
                           Row{"10 GHz", 100, 10'000'000'000}, Row{"1 MHz", 1'000'000, 1'000'000});
  const Scenario s = parse_scenario(
      std::string("hca: {link_control: {mode: lossy}, core: {allow_slow_core: true, clock: ") +
          row.asked + "}}\n",
      "s.yaml");
  CHECK(s.nodes[1].hca.core.period() == row.period);
  CHECK(s.nodes[1].hca.core.hertz() == row.hertz);
}

// 10^12 / 333 = 3003003003.003, 1001.001 millionths more than 3 GHz.
TEST_CASE("a report says what clock a chip has, if it is not the one asked for", "[scenario]") {
  const Scenario s = parse_scenario("hca0.core.clock: 3 GHz\n", "s.yaml");
  const std::string report = text_of(RunResult{}, s);
  CHECK_THAT(report, Contains("\nhca0 runs at 3003.003 MHz, 333 ps a cycle, +1001 millionths of "
                              "3000 MHz\n"));
  CHECK_THAT(report, !Contains("hca1 runs at"));
  CHECK(json_of(RunResult{}, s).at("clock_hz") == nlohmann::json{3'003'003'003, 400'000'000});
}

TEST_CASE("a report says which knobs are not as by default, of entries of lists too",
          "[scenario]") {
  const auto changed = [](const std::string& text) {
    return json_of(RunResult{}, parse_scenario(text, "s.yaml")).at("knobs_changed");
  };
  CHECK(changed("").empty());
  CHECK(changed("pcie1.lanes: 8\n") == nlohmann::json{"pcie1.lanes"});
  CHECK(changed("workload: [{operation: write, size: 64 B, depth: 32}]\n"
                "vl_arbitration: [{vl: 0}, {vl: 0, weight: 192}]\n") ==
        nlohmann::json{"vl_arbitration[1].weight", "workload[0].depth", "workload[0].from",
                       "workload[0].size", "workload[0].to"});
}

TEST_CASE("a wrong type is refused", "[scenario]") {
  CHECK_THAT(error_of("pcie.lanes: many\n"),
             Contains("s.yaml:1: pcie.lanes: \"many\" is not a number"));
  CHECK_THAT(error_of("pcie.lanes: {a: 1}\n"), Contains("pcie.lanes.a: is no known key"));
  CHECK_THAT(error_of("pcie.lanes: [1]\n"), Contains("pcie.lanes[0]: is no known key"));
  CHECK_THAT(error_of("pcie: 3\n"), Contains("s.yaml:1: pcie: is a group of keys"));
  CHECK_THAT(error_of("pcie.lanes:\n"), Contains("pcie.lanes: has no value"));
  CHECK_THAT(error_of("run.pcap: 1\n"), Contains("is not true or false"));
  CHECK_THAT(error_of("workload: write\n"), Contains("workload: is no entry of a list"));
  CHECK_THAT(error_of("workload: {operation: write}\n"), Contains("workload.operation"));
  CHECK_THAT(error_of("- 1\n"), Contains("is no map"));
}

TEST_CASE("a knob with a unit requires it", "[scenario]") {
  CHECK_THAT(error_of("hca.port.link_rate: 100\n"), Contains("s.yaml:1") && Contains("no unit"));
  CHECK_THAT(error_of("wire.latency: 5 Gb/s\n"), Contains("unknown unit"));
  CHECK_THAT(error_of("pcie.lanes: 8 B\n"), Contains("plain count"));
}

TEST_CASE("what YAML would silently take for something else is refused", "[scenario]") {
  CHECK_THAT(error_of("pcie.lanes: 010\n"), Contains("looks octal"));
  CHECK_THAT(error_of("run.seed: 0x10\n"), Contains("not decimal"));
  CHECK_THAT(error_of("run.seed: 1_000\n"), Contains("not a plain decimal"));
  CHECK_THAT(error_of("run.seed: 1e3\n"), Contains("exponent"));
  for (const char* word : {"yes", "no", "on", "off", "Yes", "OFF", "y"})
    CHECK_THAT(error_of(std::string("run.pcap: ") + word + "\n"), Contains("YAML 1.1"));
  CHECK_THAT(error_of("connection.framing: no\n"), Contains("is a boolean"));
  CHECK_THAT(error_of("run.seed: !!int 5\n"), Contains("tag"));
}

TEST_CASE("a key that occurs twice is refused with both lines", "[scenario]") {
  CHECK_THAT(error_of("run: {seed: 1}\nwire.latency: 5 ns\nrun: {seed: 2}\n"),
             Equals("s.yaml:3: run: occurs twice, first in line 1; allowed: once"));
  CHECK_THAT(error_of("run:\n  seed: 1\n  seed: 1\n"),
             Contains("s.yaml:3: run.seed: occurs twice"));
  CHECK_THAT(error_of("run: {seed: 1}\nrun.seed: 2\n"), Contains("run.seed: occurs twice"));
}

TEST_CASE("every mistake of a file is named in one go", "[scenario]") {
  const std::string errors = error_of("pcie.lanes: 99\nrun.sed: 1\nhost.notice: 5\n");
  CHECK_THAT(errors, Contains("s.yaml:1:") && Contains("s.yaml:2:") && Contains("s.yaml:3:"));
}

TEST_CASE("a range of sizes that is empty is refused", "[scenario]") {
  CHECK_THAT(error_of("workload:\n  - {from: 64 B, to: 2 B}\n"),
             Contains("workload[0].to") && Contains("less than"));
}

TEST_CASE("text that is no YAML, several documents and no file are errors", "[scenario]") {
  CHECK_THAT(error_of("a: [1, 2\nb: }\n"), Contains("s.yaml:"));
  CHECK_THAT(error_of("run.seed: 1\n---\nrun.seed: 2\n"), Contains("more than one document"));
  CHECK_THAT(error_of("{[1]: 2}\n"), Contains("key that is no word"));
  CHECK_THROWS_WITH(load_scenario("/nonexistent/x.yaml"), Contains("cannot be read"));
  CHECK_THROWS_WITH(load_scenario("/"), Contains("cannot be read"));
  CHECK_NOTHROW(parse_scenario("", "s.yaml"));
  CHECK_NOTHROW(load_scenario("/dev/null"));
}

TEST_CASE("deep and large files end with an error", "[scenario]") {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "{a: ";
  CHECK_THAT(error_of(deep + "1" + std::string(40, '}') + "\n"), Contains("too deeply"));
  // Each level doubles what it refers to.
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string above = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 8; ++j) bomb += (j ? ", " : "") + above;
    bomb += "]\n";
  }
  CHECK_THAT(error_of(bomb), Contains("too many values"));
}

TEST_CASE("every knob prints a text that sets it again", "[scenario]") {
  Scenario s;
  const KnobTable table = knobs_of(s);
  const std::vector<KnobTable::Entry> before = table.entries();
  CHECK(before.size() > 100);
  for (const KnobTable::Entry& entry : before) {
    INFO(entry.path);
    CHECK_FALSE(table.set(entry.path, entry.text));
    CHECK_FALSE(entry.info.sentence.empty());
  }
  const std::vector<KnobTable::Entry> after = table.entries();
  for (std::size_t i = 0; i < before.size(); ++i) {
    INFO(before[i].path);
    CHECK(after[i].text == before[i].text);
  }
}

TEST_CASE("a receive buffer without room for a full packet is refused", "[scenario]") {
  struct Row {
    const char *service, *framing;
    u32 longest;
  };
  // BTH 12, RETH 16, immediate data 4, payload 1024, ICRC 4; of UD DETH 8 instead of RETH. Before
  // them LRH 8 and at the end VCRC 2; with GRH 40; or Ethernet 14 and GRH 40, IPv4 20 or IPv6 40
  // and UDP 8.
  const Row row = GENERATE(Row{"rc", "ib_local", 1070}, Row{"rc", "ib_global", 1110},
                           Row{"rc", "rocev1", 1114}, Row{"uc", "rocev2_ip4", 1102},
                           Row{"rc", "rocev2_ip6", 1122}, Row{"ud", "rocev2_ip4", 1094});
  const auto with = [&](u32 buffer, const std::string& knobs = "") {
    return error_of(
        fmt::format("connection: {{path_mtu: 1024, service: {}, framing: {}}}\n"
                    "hca.link_control: {{mode: lossy, buffer: {} B{}}}\n",
                    row.service, row.framing, buffer, knobs));
  };
  CAPTURE(row.service, row.framing);
  CHECK(with(row.longest) == "(none)");
  CHECK(with(row.longest - 512, ", shared: 512 B") == "(none)");
  const std::string problem = fmt::format(
      "{} B, with the shared buffer, are less than the {} B of a packet of "
      "connection.path_mtu with its headers; allowed: at least that, or link_control.mode endless",
      row.longest - 1, row.longest);
  CHECK(with(row.longest - 1) == "s.yaml:2: hca.link_control.buffer: " + problem);
  CHECK(with(row.longest - 513, ", shared: 512 B") ==
        "s.yaml:2: hca.link_control.shared: " + problem);
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// More nodes than a pair: cables, connections, and the peer of each.
#include <unistd.h>

#include <filesystem>
#include <map>
#include <set>

#include "testbench/report/report.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/tests/recorded_run.h"
#include "testbench/trace/message_log.h"
#include "testbench/trace/wire_capture.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;
constexpr u64 kFar = 105'000;  // ps of the second cable; the first has 5 ns

// hca0 - hca1 - hca2: the one in the middle has two ports. Each entry of the workload is a
// connection: the first over the first cable, the second over the second.
Scenario line(const std::string& workload, const std::string& run = "") {
  Scenario s = parse_scenario("run: {hash: true" + run + "}\nworkload:\n" + workload, "line.yaml");
  s.nodes.resize(3, s.nodes.front());
  s.nodes[1].hca.core.ports = 2;
  s.cables = {{{NodePort{0, 0}, NodePort{1, 0}}}, {{NodePort{1, 1}, NodePort{2, 0}}}};
  s.cables[1].wire.latency = kFar;
  for (std::size_t i = 0; i < s.workload.size(); ++i) s.workload[i].between = s.cables[i].ends;
  return s;
}
const std::string kBothWays =
    "  - {operation: write, size: 3 KiB, messages: 200, qps: 2, direction: both, together: true}\n"
    "  - {operation: send, size: 3 KiB, messages: 200, qps: 2, direction: both, together: true}\n";

// Each node sends to the next one, the last to the first.
Scenario ring(unsigned nodes, const std::string& run = "") {
  const std::string entry = "  - {operation: write, size: 3 KiB, messages: 50, together: true}\n";
  std::string workload;
  for (unsigned i = 0; i < nodes; ++i) workload += entry;
  Scenario s = line(workload, run);
  s.nodes.assign(nodes, s.nodes[1]);
  s.cables.clear();
  for (unsigned i = 0; i < nodes; ++i) {
    s.cables.push_back({{NodePort{i, 1}, NodePort{(i + 1) % nodes, 0}}});
    s.workload[i].between = s.cables[i].ends;
  }
  return s;
}

RunResult run_of(const Scenario& scenario) {
  FreshKernel kernel;
  return Runner(scenario, {}).run();
}
}  // namespace

TEST_CASE("three nodes in a line have two conversations at once", "[run][topology]") {
  const RunResult result = run_of(line(kBothWays));
  CHECK(all(result.failures) == "");
  REQUIRE(result.streams.size() == 4);
  for (const StreamResult& stream : result.streams) CHECK(stream.messages == 200);
  // Four streams, and the messages of the breakdowns.
  CHECK(result.messages == 4 * 200 + 2);
  const auto sent = [&](const char* port) {
    return counter(result, port + std::string("tx_packets"));
  };
  const auto received = [&](const char* port) {
    return counter(result, port + std::string("rx_packets"));
  };
  CHECK(sent("hca0.port.") == received("hca1.port1."));
  CHECK(sent("hca1.port1.") == received("hca0.port."));
  CHECK(sent("hca1.port2.") == received("hca2.port."));
  CHECK(sent("hca2.port.") == received("hca1.port2."));
  CHECK(sent("hca0.port.") > 600);
  CHECK(sent("hca2.port.") > 600);
  CHECK_THAT(text_of(result, line(kBothWays)), Contains("3 HCAs, ") &&
                                                   Contains("wire 5 and 105 ns") &&
                                                   Contains("1 <- SEND 3072 B, hca1 to hca2"));
}

TEST_CASE("nodes in a line or in a ring give one hash, however they are run",
          "[run][topology][hash]") {
  for (const auto& [name, of] :
       {std::pair{"line", +[](const std::string& run) { return line(kBothWays, run); }},
        std::pair{"ring", +[](const std::string& run) { return ring(4, run); }}}) {
    INFO(name);
    const RunResult plain = run_of(of(""));
    CHECK(all(plain.failures) == "");
    for (const std::string run :
         {", every_cycle: true", ", shuffle_seed: 5", ", shuffle_seed: 6", ", quantum: 1 cycles"})
      CHECK(run_of(of(run)).hash == plain.hash);
  }
}

// Half of a round trip is the way there: 100 ns more of cable are 100 ns more.
TEST_CASE("a message takes its own cable, and as long as that is", "[run][topology]") {
  const std::string entry = "  - {operation: write, test: latency, size: 8 B, messages: 41}\n";
  Scenario s = line(entry + entry);
  std::swap((*s.workload[1].between)[0], (*s.workload[1].between)[1]);  // hca2 is the client
  const RunResult result = run_of(s);
  CHECK(all(result.failures) == "");
  REQUIRE(result.sizes.size() == 2);
  CHECK(result.sizes[0].ends == s.cables[0].ends);
  CHECK(result.sizes[1].ends[kClient] == NodePort{2, 0});
  const auto median = [&](std::size_t i) {
    return result.sizes[i].latency->picoseconds.percentile(50).value();
  };
  CHECK(median(1) == median(0) + kFar - 5'000);
}

TEST_CASE("a fault of a node acts on the cables of that node alone", "[run][topology]") {
  Scenario s = line(kBothWays);
  FaultConfig fault;
  fault.from = 2, fault.occurrence = 0, fault.per_million = 20'000;
  s.faults = {fault};
  const RunResult two = run_of(s);
  CHECK(all(two.failures) == "");
  CHECK(two.faults.size() > 3);
  for (const WireFault& f : two.faults) CHECK(f.sender == NodePort{2, 0});
  s.faults[0].from = 1, s.faults[0].port = 1;
  const RunResult one = run_of(s);
  CHECK(all(one.failures) == "");
  CHECK(one.faults.size() > 3);
  for (const WireFault& f : one.faults) CHECK(f.sender == NodePort{1, 0});
}

// hca0 and hca2 have queue pairs with the same numbers.
TEST_CASE("what is recorded of three nodes keeps their conversations apart",
          "[run][topology][recorder]") {
  const Scenario s = line(
      "  - {operation: write, size: 64 B, messages: 50, together: true}\n"
      "  - {operation: send, size: 64 B, messages: 50, together: true}\n");
  const RecordedRun run = run_recorded(s);
  CHECK(all(run.result.failures) == "");
  CHECK(share_of(run, "hca0 link transmit") > 0);
  CHECK(share_of(run, "hca1 link transmit, port 2") > 0);
  CHECK(share_of(run, "hca2 link transmit") > 0);
  std::map<std::string, u64> frames;
  std::set<std::string> both;
  for (const auto& ladder : run.record.at("ladders")) {
    std::set<std::string> kinds;
    for (const auto& frame : ladder.at("frames")) {
      const std::string opcode = frame.at(2).get<std::string>();
      if (frame.at(1) == 0) kinds.insert(opcode), ++frames[opcode];
    }
    CHECK(kinds.size() == 1);
    both.insert(kinds.begin(), kinds.end());
  }
  CHECK(both.size() == 2);
  for (const auto& [opcode, count] : frames) CHECK(count == 50);
}

// A chain each: those of hca0 alone.
TEST_CASE("a chip's peers are those that are connected with it", "[run][topology][recorder]") {
  Scenario s = line(
      "  - {operation: fetch_add, size: 8 B, messages: 100, qps: 2, together: true}\n"
      "  - {operation: write, size: 64 B, messages: 100, qps: 5, together: true}\n");
  s.nodes[1].hca.responder_execute.atomics = 4;
  const RecordedRun run = run_recorded(s);
  CHECK(all(run.result.failures) == "");
  const double busy = share_of(run, "hca1 ATOMIC units") * 4;
  CHECK(busy > 0);
  CHECK(share_of(run, "hca1 ATOMICs, one of a queue pair at a time") == Approx(busy / 2));
  CHECK(share_of(run, "hca2 ATOMICs, one of a queue pair at a time") == -1);
}

TEST_CASE("messages of three nodes are followed over the right cable",
          "[run][topology][message log]") {
  const std::string entry =
      "  - {operation: write, size: 8 B, messages: 20, depth: 1, together: true}\n";
  const Scenario s = line(entry + entry);
  std::map<unsigned, std::set<u64>> times;  // on the wire, by node
  FreshKernel kernel;
  Runner runner(s, {});
  MessageLog log(runner.testbed(), [&](const MessageTimes& m) {
    times[m.chip].insert(m.at[std::size_t(Station::Wire)] - m.at[std::size_t(Station::Transmit)]);
  });
  CHECK(all(runner.run().failures) == "");
  REQUIRE(times.size() == 2);
  REQUIRE(times[0].size() == 1);
  REQUIRE(times[1].size() == 1);
  CHECK(*times[1].begin() == *times[0].begin() + kFar - 5'000);
}

TEST_CASE("the capture of a topology names both ends of each wire", "[run][topology][captures]") {
  FreshKernel kernel;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("hca_topology_" + std::to_string(::getpid()) + ".pcapng"))
                               .string();
  Runner runner(line(kBothWays), {});
  WireCapture capture(path, runner.testbed().named_wires(), runner.testbed().link());
  const RunResult result = runner.run();
  capture.close();
  CaptureReader reader(path);
  u64 frames = 0;
  while (reader.next()) ++frames;
  CHECK(frames == result.frames);
  REQUIRE(reader.interfaces().size() == 2);
  CHECK(reader.interfaces()[0].name == "hca0 port 1, hca1 port 1");
  CHECK(reader.interfaces()[1].name == "hca1 port 2, hca2 port 1");
  std::filesystem::remove(path);
}

TEST_CASE("all ports of a topology have addresses of their own", "[run][topology]") {
  FreshKernel kernel;
  const Testbed bed(ring(5));
  std::set<u64> macs;
  std::set<u16> lids;
  std::set<std::array<u8, 16>> gids;
  for (unsigned node = 0; node < bed.nodes(); ++node)
    for (unsigned port = 0; port < 2; ++port) {
      const proto::PortAttributes attributes = bed.port_of({node, port});
      macs.insert(attributes.mac), lids.insert(attributes.lid);
      gids.insert(attributes.gids[0].bytes), gids.insert(attributes.gids[1].bytes);
    }
  CHECK(macs.size() == 10);
  CHECK(lids.size() == 10);
  CHECK(gids.size() == 20);
}

TEST_CASE("a port without a cable, or with two, is refused", "[run][topology]") {
  FreshKernel kernel;
  Scenario s = line(kBothWays);
  s.nodes[2].hca.core.ports = 2;
  CHECK_THROWS_WITH(Testbed(s), "port 2 of hca2 has 0 cables; allowed: one");
  s.nodes[2].hca.core.ports = 1;
  s.cables.push_back(s.cables[0]);
  CHECK_THROWS_WITH(Testbed(s), "port 1 of hca0 has 2 cables; allowed: one");
}

TEST_CASE("knobs of all nodes, and of one by its number", "[scenario][topology]") {
  Scenario s = ring(12);
  KnobTable knobs = knobs_of(s);
  CHECK_FALSE(knobs.set("hca.requester.latency", "7 cycles"));
  CHECK_FALSE(knobs.set("hca11.requester.latency", "8 cycles"));
  CHECK_FALSE(knobs.set("wire12.latency", "9 ns"));
  CHECK(s.nodes[10].hca.requester.latency == 7);
  CHECK(s.nodes[11].hca.requester.latency == 8);
  CHECK(s.cables[11].wire.latency == 9'000);
  CHECK(covers("hca.requester.latency", "hca11.requester.latency"));
  CHECK(covers("wire.latency", "wire12.latency"));
  CHECK_FALSE(covers("hca1.requester.latency", "hca11.requester.latency"));
  CHECK(is_of_one_chip("hca11.requester.latency"));
  CHECK_FALSE(is_of_one_chip("wire12.latency"));
  CHECK(is_of_one_port("wire12.latency"));
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Scenarios of chips with two ports: their keys, ways to run them, and their capture.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "testbench/tests/run_text.h"
#include "testbench/trace/wire_capture.h"

namespace hca::testbench {
namespace {
using Catch::Matchers::Contains;

// All operations on both ports at once; the second is slower and farther away.
std::string traffic(const std::string& run) {
  return "hca.core.ports: 2\n"
         "hca.port2: {link_rate: 40 Gb/s, rx_forward: store}\n"
         "wire2.latency: 300 ns\n"
         "run: {hash: true, seed: 3" +
         run +
         "}\n"
         "workload:\n"
         "  - {mix: {write: 3, send: 3, read: 3, fetch_add: 1}, sizes: [{size: 8 B}, {size: 5 "
         "KiB}],"
         " messages: 200, qps: 3, together: true, direction: both}\n"
         "  - {mix: {write: 3, send: 3, read: 3}, sizes: [{size: 64 B}, {size: 5 KiB}],"
         " messages: 200, qps: 3, together: true, port: 2, direction: both}\n"
         "faults:\n"
         "  - {action: drop, port: 2, occurrence: 0, per_million: 10000}\n";
}
}  // namespace

TEST_CASE("a knob of one port wins over that of both, and that over the default",
          "[scenario][ports]") {
  const Scenario s = parse_scenario(
      "hca1.port2.latency: 23 cycles\n"
      "hca.port2.latency: 22 cycles\n"
      "hca0.port.latency: 21 cycles\n"
      "hca.port.latency: 20 cycles\n"
      "wire2.latency: 7 ns\n"
      "wire.latency: 6 ns\n"
      "hca.core.ports: 2\n"
      "workload: [{operation: send, size: 64 B, port: 2}]\n",
      "s.yaml");
  CHECK(s.ports() == 2);
  CHECK(s.nodes[0].hca.port[0].latency == 21);
  CHECK(s.nodes[1].hca.port[0].latency == 20);
  CHECK(s.nodes[0].hca.port[1].latency == 22);
  CHECK(s.nodes[1].hca.port[1].latency == 23);
  CHECK(s.cables[0].wire.latency == 6'000);
  CHECK(s.cables[1].wire.latency == 7'000);
  CHECK(s.workload[0].port == 2);
}

TEST_CASE("a port that is not there is an error with its line", "[scenario][ports]") {
  CHECK_THAT(error_of("hca.core.ports: 3\n"),
             Contains("s.yaml:1: hca.core.ports") && Contains("1 .. 2"));
  CHECK_THAT(error_of("\nhca0.core.ports: 2\n"),
             Contains("s.yaml:2: hca0.core.ports") && Contains("hca1 1"));
  CHECK_THAT(error_of("\nwire2.latency: 7 ns\n"),
             Contains("s.yaml:2: wire2.latency") && Contains("hca.core.ports: 2"));
  CHECK_THAT(error_of("hca0.port2.latency: 7 cycles\n"), Contains("s.yaml:1: hca0.port2.latency"));
  CHECK_THAT(error_of("workload:\n  - {operation: send, size: 64 B, port: 2}\n"),
             Contains("s.yaml:2: workload[0].port"));
  CHECK_THAT(error_of("faults:\n  - {action: drop, port: 2}\n"),
             Contains("s.yaml:2: faults[0].port"));
  CHECK_THAT(error_of("workload:\n  - {operation: send, size: 64 B, port: 0}\n"),
             Contains("workload[0].port") && Contains("1 .. 2"));
}

TEST_CASE("two ports give one hash, however they are run, and all bytes arrive in spite of loss",
          "[run][ports][hash]") {
  const RunResult plain = run_text(traffic(""));
  CHECK(all(plain.failures) == "");
  REQUIRE(plain.streams.size() == 4);
  REQUIRE(plain.faults.size() > 3);
  for (const WireFault& fault : plain.faults) CHECK(fault.sender.port == 1);
  std::map<std::string, u64> counters;
  for (const CounterValue& c : plain.counters) counters[c.name] = c.value;
  CHECK(counters["hca1.port1_responder_check.psn_ahead"] == 0);
  CHECK(counters["hca1.port2_responder_check.psn_ahead"] +
            counters["hca0.port2_responder_check.psn_ahead"] + counters["hca0.requester.timeouts"] +
            counters["hca1.requester.timeouts"] >
        0);
  CHECK(counters["hca0.port1.tx_packets"] == counters["hca1.port1.rx_packets"]);
  for (const std::string run :
       {", every_cycle: true", ", shuffle_seed: 5", ", shuffle_seed: 6", ", quantum: 1 cycles"})
    CHECK(run_text(traffic(run)).hash == plain.hash);
}

TEST_CASE("the capture of two ports has an interface for each wire", "[run][ports][captures]") {
  FreshKernel kernel;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("hca_two_ports_" + std::to_string(::getpid()) + ".pcapng"))
                               .string();
  RunResult result;
  {
    Runner runner(parse_scenario("hca.core.ports: 2\n"
                                 "workload:\n"
                                 "  - {operation: write, size: 64 B, messages: 9}\n"
                                 "  - {operation: write, size: 64 B, messages: 5, port: 2}\n",
                                 "s.yaml"),
                  {});
    Testbed& bed = runner.testbed();
    WireCapture capture(path, bed.named_wires(), bed.link());
    result = runner.run();
    capture.close();
  }
  CHECK(all(result.failures) == "");
  CaptureReader reader(path);
  std::vector<CapturedFrame> frames;
  while (std::optional<CapturedFrame> frame = reader.next()) frames.push_back(std::move(*frame));
  const std::vector<CaptureInterface>& interfaces = reader.interfaces();
  REQUIRE(interfaces.size() == 2);
  CHECK(interfaces[0].name == "port 1");
  CHECK(interfaces[1].name == "port 2");
  // WRITEs to 10.0.0.2 and 10.0.1.2 and the breakdown's one; the ACKs go to 10.0.0.1 and 10.0.1.1.
  u64 to_second = 0, last = 0;
  for (const CapturedFrame& frame : frames) {
    CHECK(frame.time_ns >= last);
    last = frame.time_ns;
    to_second += frame.bytes[14 + 18] == 1;
  }
  CHECK(frames.size() == result.frames);
  CHECK(to_second >= 5 + 1);
  CHECK(to_second <= 2 * 5);
  std::filesystem::remove(path);
}
}  // namespace hca::testbench

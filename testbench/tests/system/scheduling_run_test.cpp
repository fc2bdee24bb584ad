// SPDX-License-Identifier: Apache-2.0
// Runs in which traffic classes share what limits them.
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
// Two streams at the same time, of SL 0 and 1, each of a queue pair.
RunResult run_two(const std::string& each, u32 messages_0, u32 messages_1,
                  const std::vector<std::string>& settings) {
  const auto entry = [&](u32 level, u32 messages) {
    return "  - {" + each + ", messages: " + std::to_string(messages) +
           ", service_level: " + std::to_string(level) + ", together: true}\n";
  };
  return run_workload(entry(0, messages_0) + entry(1, messages_1), settings);
}
double rate(const RunResult& result, std::size_t i) {
  return result.streams.at(i).gigabits_per_second();
}
const std::string kLarge = "operation: write, size: 4 KiB, depth: 64";
}  // namespace

// Packets of 4096 bytes wait for the link, so what requester cuts next decides. With three times as
// many messages in the class of weight 3 both end together, if it has three packets of four: the
// first and the last few may differ. In rotation the smaller stream would end at 800 of 1600
// packets, and the rates would be as 1.5 to 1.
TEST_CASE("weights of 1 and 3: packets and throughput of two classes on one link",
          "[scheduling][policy]") {
  const auto two = [](std::vector<std::string> settings) {
    settings.push_back("connection.path_mtu=4096");
    return run_two(kLarge, 400, 1200, settings);
  };
  const RunResult weighted =
      two({"hca.qp_scheduler.policy=weighted", "hca.qp_scheduler.weight_1=3"});
  CHECK(rate(weighted, 1) / rate(weighted, 0) == Approx(3).epsilon(0.02));
  const RunResult rotation = two({});
  CHECK(rate(rotation, 1) / rate(rotation, 0) == Approx(1.5).epsilon(0.02));
}

// Turns of one WQE, one each 100 cycles of 2.5 ns: 4 million a second. Of 64 bytes, so the link is
// idle most of the time: turns decide.
TEST_CASE("weights of 1 and 3: turns of two classes", "[scheduling][policy]") {
  const RunResult turns =
      run_two("operation: write, size: 64 B, depth: 64", 400, 1200,
              {"hca.qp_scheduler.policy=weighted", "hca.qp_scheduler.weight_1=3",
               "hca.qp_scheduler.interval=100 cycles", "hca.qp_scheduler.batch=1"});
  CHECK(turns.streams.at(0).million_messages_per_second() == Approx(1).epsilon(0.02));
  CHECK(turns.streams.at(1).million_messages_per_second() == Approx(3).epsilon(0.02));
}

// 400 packets of 4096 bytes are 4194 on the wire, 335.5 ns each: 97.7 Gb/s. Up to 32 packets of the
// lower class are in the packet buffers before the higher one begins, and 3 us pass until its first
// packet is on the wire and its last answer is there, the time of 9.
TEST_CASE("strict priority: the higher class has the link until it is done",
          "[scheduling][policy]") {
  const RunResult strict =
      run_two(kLarge, 400, 400, {"connection.path_mtu=4096", "hca.qp_scheduler.policy=strict"});
  CHECK(rate(strict, 1) <= 97.7);
  CHECK(rate(strict, 1) > 97.7 * 400 / (400 + 32 + 9));
  CHECK(rate(strict, 0) == Approx(97.7 / 2).epsilon(0.03));  // it waits for all of the other
}
}  // namespace hca::testbench

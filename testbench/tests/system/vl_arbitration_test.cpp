// SPDX-License-Identifier: Apache-2.0
// Virtual lanes share a link by the tables of VL arbitration.
#include "testbench/tests/run_text.h"

namespace hca::testbench {
namespace {
// Two streams of SL 0 and 1 on two lanes; throughput of the second divided by that of the first.
double shares_of_lanes(u32 messages_0, u32 messages_1, const std::string& tables,
                       std::vector<std::string> settings = {},
                       const std::string& operation = "write") {
  FreshKernel kernel;
  settings.insert(settings.begin(),
                  {"pcie.generation=4", "connection.framing=ib_local", "connection.path_mtu=4096",
                   "hca.link_control.mode=credits", "hca.link_control.buffer=64 KiB",
                   "hca.link_control.lanes=2", "hca.packetizer.lane_buffers=16",
                   "hca.responder_execute.lane_responses=8"});
  const auto entry = [&](u32 level, u32 messages) {
    return "  - {operation: " + operation +
           ", size: 4 KiB, depth: 64, together: true, messages: " + std::to_string(messages) +
           ", service_level: " + std::to_string(level) + "}\n";
  };
  Runner runner(parse_scenario("workload:\n" + entry(0, messages_0) + entry(1, messages_1) + tables,
                               "test.yaml", settings),
                {});
  const RunResult result = runner.run();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  return result.streams.at(1).gigabits_per_second() / result.streams.at(0).gigabits_per_second();
}
std::string arbitration(const std::vector<std::array<u32, 2>>& list,
                        const std::string& table = "low") {
  std::string text;
  for (const auto& [lane, weight] : list)
    text += "  - {table: " + table + ", vl: " + std::to_string(lane) +
            ", weight: " + std::to_string(weight) + "}\n";
  return text;
}
}  // namespace

// A packet is 8 + 12 + 16 + 4096 + 4 + 2 = 4138 bytes, 65 blocks of 64: a weight of 65 is one
// packet, one of 195 three. With three times as many messages both streams end together.
TEST_CASE("two lanes share a link by the weights of their entries", "[vl_arbitration]") {
  CHECK(shares_of_lanes(400, 1200, "vl_arbitration:\n" + arbitration({{0, 65}, {1, 195}})) ==
        Approx(3).epsilon(0.02));
  CHECK(shares_of_lanes(400, 400, "vl_arbitration:\n" + arbitration({{0, 65}, {1, 65}})) ==
        Approx(1).epsilon(0.02));
  // Two entries of lane 1 for one of lane 0.
  CHECK(shares_of_lanes(400, 800, "vl_arbitration:\n" + arbitration({{1, 65}, {0, 65}, {1, 65}})) ==
        Approx(2).epsilon(0.02));
  // The weights of the lanes are such a table too.
  CHECK(
      shares_of_lanes(400, 1200, "", {"hca.link_control.low_0=65", "hca.link_control.low_1=195"}) ==
      Approx(3).epsilon(0.02));
}

// A response is 8 + 12 + 4 + 4096 + 4 + 2 = 4126 bytes, 65 blocks as well. With fewer buffers than
// READs in flight, 16 of each, the lane that has to wait would have all of them: the two queue
// pairs take turns then, whatever the tables say.
TEST_CASE("responses of READs share a link by the weights of their lanes", "[vl_arbitration]") {
  const std::string tables = "vl_arbitration:\n" + arbitration({{0, 65}, {1, 195}});
  CHECK(shares_of_lanes(400, 1200, tables, {}, "read") == Approx(3).epsilon(0.02));
  CHECK(shares_of_lanes(
            400, 400, tables,
            {"hca.responder_execute.lane_responses=0", "hca.responder_execute.responses=8"},
            "read") == Approx(1).epsilon(0.02));
}

// High_Limit 4: 16 KiB, so the high lane begins packets at 0, 4138, 8276 and 12414 bytes, four;
// after 16552 the low table has one.
TEST_CASE("the high table has its limit while the low one waits", "[vl_arbitration]") {
  const std::string tables =
      "vl_arbitration:\n" + arbitration({{1, 65}}, "high") + arbitration({{0, 65}}, "low");
  CHECK(shares_of_lanes(300, 1200, tables, {"hca.link_control.high_limit=4"}) ==
        Approx(4).epsilon(0.02));
}

TEST_CASE("a lane without an entry is refused", "[vl_arbitration]") {
  const std::string two =
      "hca.link_control: {mode: credits, buffer: 64 KiB, lanes: 2}\nconnection.framing: ib_local\n";
  CHECK_THAT(error_of(two + "vl_arbitration:\n" + arbitration({{0, 65}})),
             Catch::Contains("s.yaml:1: link_control.lanes: \"2\" has VL 1, which is in no table"));
  CHECK(error_of(two + "vl_arbitration:\n" + arbitration({{0, 65}, {1, 1}})) == "(none)");
  CHECK_THAT(error_of("vl_arbitration:\n" + arbitration({{15, 65}})),
             Catch::Contains("vl_arbitration[0].vl") && Catch::Contains("0 .. 7"));
}
}  // namespace hca::testbench

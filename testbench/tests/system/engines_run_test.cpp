// SPDX-License-Identifier: Apache-2.0
// Processing engines in a run: how many messages queue pairs of one engine and of several have.
#include "testbench/tests/recorded_run.h"

namespace hca::testbench {
// Four engines, 160 cycles of 2.5 ns each a packet: 2.5 M/s each. Of 800 us the first message's way
// takes one or two.
TEST_CASE("scenario engines: a queue pair has the rate of its engine", "[scenarios][engines]") {
  const std::vector<std::string> settings =
      GENERATE(values<std::vector<std::string>>({{},
                                                 {"hca.requester.engine_interval=1 cycle"},
                                                 {"hca.responder_execute.engine_interval=1 cycle"},
                                                 {"hca.responder_execute.engine_queue=1"}}));
  const RunResult result = run_ready("engines", settings);
  CAPTURE(settings);
  const auto is = [](double rate) { return Approx(rate).epsilon(0.005); };
  CHECK(result.sizes.at(0).bandwidth->million_messages_per_second() == is(2.5));
  CHECK(result.streams.at(0).million_messages_per_second() == is(5));
  CHECK(result.streams.at(1).million_messages_per_second() == is(10));
  CHECK(result.streams.at(2).million_messages_per_second() == is(10));
}

// As many engines are busy all the time as there are queue pairs, the others never.
TEST_CASE("scenario engines: each engine is shown as a resource", "[scenarios][engines]") {
  const RecordedRun run = run_recorded(
      load_scenario(std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/engines.yaml", {}));
  CHECK(run.result.failures.empty());
  CHECK(run.line.find(" engine ") != std::string::npos);
  const std::size_t wanted[] = {1, 2, 4, 4};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    std::size_t busy = 0, idle = 0;
    for (const auto& use : run.record.at("phases").at(i).at("resources")) {
      if (!use.at("resource").get<std::string>().starts_with("hca0 requester engine")) continue;
      const double share = use.at("share").get<double>();
      busy += share > 0.99, idle += share < 0.01;
    }
    CHECK(busy == wanted[i]);
    CHECK(idle == 4 - wanted[i]);
  }
}

// A message of 64 B is one packet, and one each 100 cycles is what such a block takes; all else
// takes one in fewer.
TEST_CASE("a block that limits by its interval is named", "[scenarios][engines]") {
  const std::pair<std::string, std::string> rows[] = {
      {"hca0.doorbell", "hca0 doorbell"},
      {"hca0.requester", "hca0 requester"},
      {"hca0.packetizer", "hca0 packetizer"},
      {"hca1.responder_check", "hca1 responder_check"},
      {"hca1.responder_execute", "hca1 responder_execute"},
      {"hca0.response_check", "hca0 response_check"},
      {"hca0.completion", "hca0 completion"},
      {"hca0.port", "hca0 port transmit"},
      {"hca0.icrc_unit", "hca0 icrc_unit transmit"},
  };
  const auto& [block, name] = rows[GENERATE(range(0, 9))];
  const RecordedRun run = run_recorded("operation: write, from: 64 B, to: 64 B, messages: 2000",
                                       {block + ".interval=100 cycles"});
  // 400 MHz: 4 M packets a second.
  CHECK(run.result.sizes.at(0).bandwidth->million_messages_per_second() == Approx(4).epsilon(0.02));
  CAPTURE(block, run.line);
  CHECK(run.line.find("Bottleneck, WRITE bandwidth, 64 B: " + name + ": ") == 0);
}
}  // namespace hca::testbench

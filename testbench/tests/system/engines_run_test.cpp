// SPDX-License-Identifier: Apache-2.0
// Processing engines in a run: how many messages queue pairs of one engine and of several have.
#include <catch2/catch.hpp>

#include "testbench/run_recorder.h"
#include "testbench/tests/system/run_text.h"

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
  FreshKernel kernel;
  Scenario scenario =
      load_scenario(std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/engines.yaml", {});
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  CHECK(runner.run().failures.empty());
  CHECK(recorder.bottleneck_line().find(" engine ") != std::string::npos);
  const nlohmann::json record = recorder.json();
  const std::size_t wanted[] = {1, 2, 4, 4};
  for (std::size_t i = 0; i < std::size(wanted); ++i) {
    std::size_t busy = 0, idle = 0;
    for (const auto& use : record.at("phases").at(i).at("resources")) {
      if (!use.at("resource").get<std::string>().starts_with("hca0 requester engine")) continue;
      const double share = use.at("share").get<double>();
      busy += share > 0.99, idle += share < 0.01;
    }
    CHECK(busy == wanted[i]);
    CHECK(idle == 4 - wanted[i]);
  }
}
}  // namespace hca::testbench

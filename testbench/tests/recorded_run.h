// SPDX-License-Identifier: Apache-2.0
// A run with the data of its recorder.
#pragma once
#include <nlohmann/json.hpp>

#include "testbench/run/run_recorder.h"
#include "testbench/tests/run_text.h"

namespace hca::testbench {
struct RecordedRun {
  RunResult result;
  nlohmann::json record;
  std::string line;
};
// Allows failures.
inline RecordedRun run_recorded(Scenario scenario) {
  FreshKernel kernel;
  scenario.metered = true;
  Runner runner(scenario, {});
  RunRecorder recorder(runner.testbed());
  runner.phase = [&](const std::string& what, bool begins) { recorder.phase(what, begins); };
  return {runner.run(), recorder.json(), recorder.bottleneck_lines()};
}
// For one entry of the workload; failures are reported.
inline RecordedRun run_recorded(const std::string& entry,
                                const std::vector<std::string>& settings) {
  RecordedRun all =
      run_recorded(parse_scenario("workload: [{" + entry + "}]\n", "test.yaml", settings));
  for (const std::string& failure : all.result.failures) FAIL_CHECK(failure);
  return all;
}
// Cycles that a block waited for something in a part of the run; 0: never.
inline u64 waited(const RecordedRun& run, const std::string& block, const std::string& cause,
                  std::size_t part = 0) {
  for (const auto& s : run.record.at("phases").at(part).at("stalls"))
    if (s.at("block") == block && s.at("cause").get<std::string>().starts_with(cause))
      return s.at("cycles");
  return 0;
}

inline u64 time_of(const RecordedRun& run, std::size_t part = 0) {
  const auto& phase = run.record.at("phases").at(part);
  return phase.at("to_ps").get<u64>() - phase.at("from_ps").get<u64>();
}
// The share of time, or of the total number, in a part of the run; -1: the resource does not exist.
inline double share_of(const RecordedRun& run, const std::string& resource, std::size_t part = 0) {
  for (const auto& use : run.record.at("phases").at(part).at("resources"))
    if (use.at("resource") == resource) return use.at("share");
  return -1;
}
}  // namespace hca::testbench

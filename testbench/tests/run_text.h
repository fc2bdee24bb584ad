// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "testbench/run/run.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
// The error in a scenario text; "(none)": it is valid.
inline std::string error_of(const std::string& text,
                            const std::vector<std::string>& settings = {}) {
  try {
    parse_scenario(text, "s.yaml", settings);
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "(none)";
}
// Runs a scenario given as text.
inline RunResult run_text(const std::string& text, const std::vector<std::string>& settings = {}) {
  FreshKernel kernel;
  Runner runner(parse_scenario(text, "test.yaml", settings), {});
  return runner.run();
}
// Runs the entries of a workload list; failures are reported.
inline RunResult run_workload(const std::string& entries,
                              const std::vector<std::string>& settings = {}) {
  FreshKernel kernel;
  Runner runner(parse_scenario("workload:\n" + entries, "test.yaml", settings), {});
  RunResult result = runner.run();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  return result;
}
// Runs testbench/scenarios/NAME.yaml; failures are reported.
inline RunResult run_ready(const std::string& name, const std::vector<std::string>& settings = {}) {
  FreshKernel kernel;
  const std::string file = std::string(HCA_SOURCE_DIR) + "/testbench/scenarios/" + name + ".yaml";
  Runner runner(load_scenario(file, settings), {});
  RunResult result = runner.run();
  INFO(name);
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  return result;
}
inline u64 counter(const RunResult& result, std::string_view name) {
  for (const CounterValue& c : result.counters)
    if (c.name == name) return c.value;
  throw std::runtime_error("no such counter");
}
inline std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "testbench/fresh_kernel.h"
#include "testbench/run.h"
#include "testbench/scenario_file.h"

namespace hca::testbench {
// Runs a scenario given as text.
inline RunResult run_text(const std::string& text) {
  FreshKernel kernel;
  Runner runner(parse_scenario(text, "test.yaml"), {});
  return runner.run();
}
// Runs the entries of a workload list; what fails is told.
inline RunResult run_workload(const std::string& entries,
                              const std::vector<std::string>& settings = {}) {
  FreshKernel kernel;
  Runner runner(parse_scenario("workload:\n" + entries, "test.yaml", settings), {});
  RunResult result = runner.run();
  for (const std::string& failure : result.failures) FAIL_CHECK(failure);
  return result;
}
inline std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
}  // namespace hca::testbench

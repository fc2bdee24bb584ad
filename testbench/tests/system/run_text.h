// SPDX-License-Identifier: Apache-2.0
#pragma once
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
inline std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}
}  // namespace hca::testbench

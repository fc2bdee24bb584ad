// SPDX-License-Identifier: Apache-2.0
// The list `axes` of a sweep file.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "testbench/scenario/scenario.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/sweep/plan.h"

namespace hca::testbench {
struct Axis {
  std::vector<std::string> knobs;
  std::vector<KnobTexts> points;
};
// `settings`: those below "axes", with their whole paths. Mistakes are appended to `errors`.
std::vector<Axis> read_axes(const std::vector<Setting>& settings, const std::string& file,
                            const Scenario& scenario, std::vector<std::string>& errors);
}  // namespace hca::testbench

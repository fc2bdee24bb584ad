// SPDX-License-Identifier: Apache-2.0
// The content of a sweep file: a scenario and its points.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
using KnobTexts = std::vector<std::pair<std::string, std::string>>;  // path and value, as in --set

struct SweepPoint {
  std::string name;  // "0007", padded to the width of the last one
  KnobTexts knobs;
};
// An additional column of the table: a value of summary.json by its JSON pointer.
struct SweepColumn {
  std::string name, pointer;
  int line = 0;  // in the sweep file
};
struct SweepPlan {
  std::string file;
  std::string scenario;            // its text
  std::vector<std::string> knobs;  // of all axes, in order
  std::vector<SweepColumn> columns;
  std::vector<SweepPoint> points;  // the last axis changes fastest
};

inline constexpr std::size_t kMaxPoints = 100'000;

// Throws ScenarioError with all mistakes, "file:line: key: ...", including those of the scenario.
// Conflicts between knobs are left to the run of the point.
SweepPlan load_sweep(const std::string& file);
// `file`: name for messages; a scenario's path is relative to its folder.
SweepPlan parse_sweep(const std::string& text, const std::string& file);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// What a sweep file asks for: a scenario and its points.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
using KnobTexts = std::vector<std::pair<std::string, std::string>>;  // path and value, as --set

struct SweepPoint {
  std::string name;  // "0007", as wide as the last one's
  KnobTexts knobs;
};
// A column of the table beside the usual ones: a value of summary.json by its JSON pointer.
struct SweepColumn {
  std::string name, pointer;
  int line = 0;  // of the sweep file
};
struct SweepPlan {
  std::string file;
  std::string scenario;            // its text
  std::vector<std::string> knobs;  // of all axes, in their order
  std::vector<SweepColumn> columns;
  std::vector<SweepPoint> points;  // the last axis changes fastest
};

inline constexpr std::size_t kMaxPoints = 100'000;

// Throws ScenarioError with every mistake, "file:line: key: ...", those of the scenario too. What
// no single value shows (two knobs that do not go together) is left to the run of the point.
SweepPlan load_sweep(const std::string& file);
// `file` names it in messages; a scenario's path is relative to its folder.
SweepPlan parse_sweep(const std::string& text, const std::string& file);
}  // namespace hca::testbench

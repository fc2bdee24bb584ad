// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/plan.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>

#include "testbench/scenario/scenario.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/sweep/axes.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
constexpr std::string_view kKeys = "scenario, axes, columns";

// The parts of a file by their first key.
struct Parts {
  std::vector<Setting> scenario, axes, columns;  // scenario: paths from there
  std::string scenario_file;
};
Parts parts_of(const std::vector<Setting>& settings, const std::string& file,
               std::vector<std::string>& errors) {
  Parts parts;
  for (const Setting& s : settings) {
    const std::string key = s.path.substr(0, s.path.find_first_of(".["));
    if (s.path == "scenario" && s.text != "{}") {
      parts.scenario_file = s.text;
    } else if (key == "scenario" && s.path[key.size()] == '.') {
      parts.scenario.push_back(s);
      parts.scenario.back().path.erase(0, key.size() + 1);
    } else if (key == "axes" && s.path != "axes" && s.path[key.size()] == '[') {
      parts.axes.push_back(s);
    } else if (key == "columns" && s.path != "columns" && s.path[key.size()] == '.') {
      parts.columns.push_back(s);
      parts.columns.back().path.erase(0, key.size() + 1);
    } else if (s.text == "[]" || s.text == "{}") {
      errors.push_back(
          fmt::format("{}:{}: {}: is empty; allowed: one entry or more", file, s.line, s.path));
    } else {
      errors.push_back(
          fmt::format("{}:{}: {}: is nothing that a sweep has; allowed: {}: a file or "
                      "a map, a list, a map",
                      file, s.line, s.path, kKeys));
    }
  }
  return parts;
}

SweepColumn column_of(const Setting& s, const std::string& file, std::vector<std::string>& errors) {
  if (!s.text.starts_with('/') || s.text.find('~') != s.text.npos)
    errors.push_back(
        fmt::format("{}:{}: columns.{}: is no JSON pointer; allowed: "
                    "/counters/hca0.requester.resent",
                    file, s.line, s.path));
  return {s.path, s.text, s.line};
}

// The last axis changes fastest. A point has the knobs of its entry of each axis.
std::vector<SweepPoint> product_of(const std::vector<Axis>& axes) {
  std::vector<SweepPoint> points(1);
  for (const Axis& axis : axes) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points)
      for (const KnobTexts& more : axis.points) {
        longer.push_back(point);
        longer.back().knobs.insert(longer.back().knobs.end(), more.begin(), more.end());
      }
    points = std::move(longer);
  }
  const std::size_t width = std::max<std::size_t>(4, fmt::format("{}", points.size() - 1).size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i].name = fmt::format("{:0{}}", i, width);
  return points;
}
}  // namespace

SweepPlan parse_sweep(const std::string& text, const std::string& file) {
  std::vector<std::string> errors;
  const Parts parts = parts_of(read_yaml(text, file), file, errors);
  if (!errors.empty()) throw ScenarioError(errors);
  SweepPlan plan;
  plan.file = file;
  Scenario scenario;
  if (!parts.scenario_file.empty()) {
    const auto path = std::filesystem::path(file).parent_path() / parts.scenario_file;
    scenario = load_scenario(path.string());
    plan.scenario = read_text_file(path.string()).value_or("");
  } else if (!parts.scenario.empty()) {
    scenario = scenario_of(parts.scenario, file);
    plan.scenario = YAML::Dump(YAML::Load(text)["scenario"]) + "\n";
  } else {
    errors.push_back(file + ":1: scenario: is missing; allowed: a file, or a scenario itself");
  }
  for (const Setting& s : parts.columns) plan.columns.push_back(column_of(s, file, errors));
  if (parts.axes.empty()) errors.push_back(file + ":1: axes: is missing; allowed: a list of axes");
  if (!errors.empty()) throw ScenarioError(errors);
  const std::vector<Axis> axes = read_axes(parts.axes, file, scenario, errors);
  if (!errors.empty()) throw ScenarioError(errors);
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    plan.knobs.insert(plan.knobs.end(), axis.knobs.begin(), axis.knobs.end());
    count *= axis.points.size();
    if (count > kMaxPoints)
      throw ScenarioError(
          {fmt::format("{}:{}: axes: have more than {} points together; allowed: this many", file,
                       parts.axes.front().line, kMaxPoints)});
  }
  plan.points = product_of(axes);
  return plan;
}

SweepPlan load_sweep(const std::string& file) {
  const std::optional<std::string> text = read_text_file(file);
  if (!text) throw ScenarioError({file + ": cannot be read; allowed: a text file"});
  return parse_sweep(*text, file);
}
}  // namespace hca::testbench

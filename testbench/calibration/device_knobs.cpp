// SPDX-License-Identifier: Apache-2.0
#include "testbench/calibration/device_knobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace hca::testbench {
namespace {
namespace fs = std::filesystem;
// The processor and its programs, its memory, the slot and its sizes, and the way between two
// ports with its rate.
constexpr std::array<std::string_view, 11> kOfSetup{
    "host.",       "wire.",      "pcie.memory_",      "pcie.llc_",
    "pcie.iommu_", "pcie.lanes", "pcie.generation",   "pcie.same_line",
    "pcie.mps",    "pcie.mrrs",  "hca.port.link_rate"};
}  // namespace

bool is_of_setup(std::string_view path) {
  return std::ranges::any_of(kOfSetup,
                             [&](std::string_view prefix) { return path.starts_with(prefix); });
}

std::vector<SourcedKnob> read_setup(const std::string& folder, const std::string& name) {
  const std::string file = folder + "/setups/" + name + ".yaml";
  std::vector<SourcedKnob> knobs = sourced_knobs(read_yaml_file(file), file);
  for (SourcedKnob& knob : knobs) knob.setting.file = file;
  for (const SourcedKnob& knob : knobs)
    if (!is_of_setup(knob.setting.path))
      throw ScenarioError(
          {fmt::format("{}:{}: {}: is no knob of a host; allowed: host, wire, and "
                       "of pcie the slot and the memory, hca.port.link_rate",
                       file, knob.setting.line, knob.setting.path)});
  return knobs;
}

std::vector<std::string> setups_in(const std::string& folder) {
  std::vector<std::string> names;
  if (fs::is_directory(folder + "/setups"))
    for (const auto& entry : fs::directory_iterator(folder + "/setups"))
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}
}  // namespace hca::testbench

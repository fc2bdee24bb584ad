// SPDX-License-Identifier: Apache-2.0
// The knobs of the devices and hosts of published measurements, as their files have them or as a
// fit changes them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "testbench/scenario/preset.h"

namespace hca::testbench {
// Of the presets, and of the setups: a host, and what lies between the two adapters.
struct DeviceKnobs {
  std::map<std::string, std::vector<SourcedKnob>> presets, setups;
};
// True: a setup may have this knob, because no adapter has it.
bool is_of_setup(std::string_view path);
// FOLDER/setups/NAME.yaml. Throws ScenarioError with file, line and key; for a knob of a device
// too.
std::vector<SourcedKnob> read_setup(const std::string& folder, const std::string& name);
// The names of the setups of a folder, sorted.
std::vector<std::string> setups_in(const std::string& folder);
}  // namespace hca::testbench

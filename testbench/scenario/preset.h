// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
// A device as knobs: a text of testbench/presets/, where each knob says where its value is from.
struct Preset {
  std::string_view name, text;
};
const std::vector<Preset>& presets();  // by name
// Its knobs; none: there is no preset of that name.
std::optional<std::vector<Setting>> settings_of_preset(std::string_view name);
// "connectx3, connectx4, ...", with or without devices that do DMA alone.
std::string preset_names(bool dma_clients);
// "preset: NAME" among the settings of a file: those of the preset, where nothing else sets the
// same.
void take_preset(std::vector<Setting>& settings, const std::string& file,
                 std::vector<std::string>& errors);
}  // namespace hca::testbench

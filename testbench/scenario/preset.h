// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
// A device as a set of knobs: a text of testbench/presets/, in which each knob names the source of
// its value.
struct Preset {
  std::string_view name, text;
};
const std::vector<Preset>& presets();  // by name

// A knob of a device or a host: a documented fact, or fitted to published curves.
struct SourcedKnob {
  Setting setting;
  bool is_fitted = false;
};
// The two sections "facts" and "fitted" of a file that describes a device or a host. Throws
// ScenarioError for other keys, and for a knob in both.
std::vector<SourcedKnob> sourced_knobs(const std::vector<Setting>& settings,
                                       const std::string& file);
std::vector<Setting> settings_of(const std::vector<SourcedKnob>& knobs);

// The knobs of a preset; empty: there is no preset of that name.
std::optional<std::vector<SourcedKnob>> knobs_of_preset(std::string_view name);
// "connectx3, connectx4, ...", with or without devices that only do DMA.
std::string preset_names(bool dma_clients);
// Replaces "preset: NAME" among the settings of a file by those of the preset that are not set
// otherwise.
void take_preset(std::vector<Setting>& settings, const std::string& file,
                 std::vector<std::string>& errors);
}  // namespace hca::testbench

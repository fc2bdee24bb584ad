// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/text/shortened.h"

namespace hca::testbench {
std::vector<SourcedKnob> sourced_knobs(const std::vector<Setting>& settings,
                                       const std::string& file) {
  constexpr std::string_view kFacts = "facts.", kFitted = "fitted.";
  std::vector<SourcedKnob> knobs;
  std::vector<std::string> errors;
  for (const Setting& s : settings) {
    const bool is_fitted = s.path.starts_with(kFitted);
    if (!is_fitted && !s.path.starts_with(kFacts)) {
      errors.push_back(fmt::format(
          "{}:{}: {}: is in no section; allowed: facts (documented), fitted (to curves)", file,
          s.line, s.path));
      continue;
    }
    SourcedKnob knob{s, is_fitted};
    knob.setting.path.erase(0, is_fitted ? kFitted.size() : kFacts.size());
    const bool twice = std::ranges::any_of(
        knobs, [&](const SourcedKnob& k) { return k.setting.path == knob.setting.path; });
    if (twice)
      errors.push_back(fmt::format("{}:{}: {}: is a fact and fitted; allowed: one of the two", file,
                                   s.line, knob.setting.path));
    knobs.push_back(std::move(knob));
  }
  if (!errors.empty()) throw ScenarioError(errors);
  return knobs;
}

std::vector<Setting> settings_of(const std::vector<SourcedKnob>& knobs) {
  std::vector<Setting> settings;
  for (const SourcedKnob& knob : knobs) settings.push_back(knob.setting);
  return settings;
}

std::optional<std::vector<SourcedKnob>> knobs_of_preset(std::string_view name) {
  const auto& all = presets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
  if (found == all.end()) return std::nullopt;
  const std::string file = "preset " + std::string(name);
  return sourced_knobs(read_yaml(std::string(found->text), file), file);
}

static bool is_dma_client(const std::vector<SourcedKnob>& preset) {
  return std::ranges::any_of(
      preset, [](const SourcedKnob& k) { return k.setting.path.starts_with("dma_client."); });
}

std::string preset_names(bool dma_clients) {
  std::string names;
  for (const Preset& preset : presets())
    if (dma_clients || !is_dma_client(*knobs_of_preset(preset.name)))
      names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

void take_preset(std::vector<Setting>& settings, const std::string& file,
                 std::vector<std::string>& errors) {
  const auto said = std::find_if(settings.begin(), settings.end(),
                                 [](const Setting& s) { return s.path == "preset"; });
  if (said == settings.end()) return;
  const Setting preset = *said;
  settings.erase(said);
  const std::optional<std::vector<SourcedKnob>> given = knobs_of_preset(preset.text);
  if (!given || is_dma_client(*given))
    return errors.push_back(fmt::format(
        "{}: preset: {} \"{}\"; allowed: {}",
        preset.overrides ? "--set" : fmt::format("{}:{}", file, preset.line),
        given ? "a device that only does DMA, which only hca calibrate runs:" : "there is no",
        shortened(preset.text), preset_names(false)));
  std::vector<Setting> all;
  for (const Setting& s : settings_of(*given))
    if (std::none_of(settings.begin(), settings.end(),
                     [&](const Setting& own) { return own.path == s.path; })) {
      all.push_back(s);
      all.back().of_preset = true;
    }
  all.insert(all.end(), settings.begin(), settings.end());
  settings = std::move(all);
}
}  // namespace hca::testbench

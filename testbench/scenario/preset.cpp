// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/preset.h"

#include <fmt/format.h>

#include <algorithm>

#include "testbench/text/shortened.h"

namespace hca::testbench {
std::optional<std::vector<Setting>> settings_of_preset(std::string_view name) {
  const auto& all = presets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
  if (found == all.end()) return std::nullopt;
  return read_yaml(std::string(found->text), "preset " + std::string(name));
}

static bool is_dma_client(const std::vector<Setting>& preset) {
  return std::ranges::any_of(preset,
                             [](const Setting& s) { return s.path.starts_with("dma_client."); });
}

std::string preset_names(bool dma_clients) {
  std::string names;
  for (const Preset& preset : presets())
    if (dma_clients || !is_dma_client(*settings_of_preset(preset.name)))
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
  const std::optional<std::vector<Setting>> given = settings_of_preset(preset.text);
  if (!given || is_dma_client(*given))
    return errors.push_back(fmt::format(
        "{}: preset: {} \"{}\"; allowed: {}",
        preset.overrides ? "--set" : fmt::format("{}:{}", file, preset.line),
        given ? "a device that only does DMA, which only hca calibrate runs:" : "there is no",
        shortened(preset.text), preset_names(false)));
  std::vector<Setting> all;
  for (const Setting& s : *given)
    if (std::none_of(settings.begin(), settings.end(),
                     [&](const Setting& own) { return own.path == s.path; })) {
      all.push_back(s);
      all.back().of_preset = true;
    }
  all.insert(all.end(), settings.begin(), settings.end());
  settings = std::move(all);
}
}  // namespace hca::testbench

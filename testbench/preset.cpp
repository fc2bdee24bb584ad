// SPDX-License-Identifier: Apache-2.0
#include "testbench/preset.h"

#include <algorithm>

namespace hca::testbench {
std::optional<std::vector<Setting>> settings_of_preset(std::string_view name) {
  const auto& all = presets();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
  if (found == all.end()) return std::nullopt;
  return read_yaml(std::string(found->text), "preset " + std::string(name));
}

std::string preset_names() {
  std::string names;
  for (const Preset& preset : presets())
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}
}  // namespace hca::testbench

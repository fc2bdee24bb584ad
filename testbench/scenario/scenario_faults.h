// SPDX-License-Identifier: Apache-2.0
// Checks the lists `faults` and `fail` of a scenario; keys of list entries.
#pragma once
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario.h"
#include "testbench/scenario/scenario_file.h"

namespace hca::testbench {
// "workload[3].depth": list, index and the key's path inside the entry, with its dot. The brackets
// come from read_yaml(), never from a key of the text, so the index counts real entries.
struct ListKey {
  std::string_view list, key;
  std::size_t index;
};
inline std::optional<ListKey> list_key(std::string_view path) {
  const auto open = path.find('['), close = path.find("]", open);
  if (open == path.npos || close == path.npos) return std::nullopt;
  ListKey found{path.substr(0, open), path.substr(close + 1), 0};
  std::from_chars(path.data() + open + 1, path.data() + close, found.index);
  return found;
}
struct SettingMistake {
  const Setting* setting;
  std::string problem;  // with its path and the allowed values
};
// `is_wrong`: true if a value at this path or below it is already wrong by itself.
// An entry with `per_million`, 0 included, and without `occurrence` acts by that probability alone.
void settle_faults(Scenario& scenario, const std::vector<Setting>& settings);
std::vector<SettingMistake> fault_mistakes(const Scenario& scenario,
                                           const std::vector<Setting>& settings,
                                           const std::function<bool(const std::string&)>& is_wrong);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/scenario_faults.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
namespace {
using IsWrong = std::function<bool(const std::string&)>;
using Mistakes = std::vector<SettingMistake>;

void find_delays(const Scenario& scenario, const std::vector<Setting>& settings,
                 const IsWrong& is_wrong, Mistakes& found) {
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    const FaultConfig& fault = scenario.faults[i];
    const std::string path = fmt::format("faults[{}].action", i);
    if (fault.action != tlm_::FaultAction::Delay || fault.delay || is_wrong(path)) continue;
    for (const Setting& s : settings)
      if (s.path == path)
        found.push_back(
            {&s, path + ": is delay, without a delay; allowed: with delay: 1 ps .. 1 s"});
  }
}

void find_occurrences(const Scenario& scenario, const std::vector<Setting>& settings,
                      const IsWrong& is_wrong, Mistakes& found) {
  for (const Setting& s : settings) {
    const auto entry = list_key(s.path);
    if (!entry || entry->list != "faults" || entry->key != ".occurrence") continue;
    if (is_wrong(fmt::format("faults[{}]", entry->index))) continue;
    const FaultConfig& fault = scenario.faults[entry->index];
    if (fault.per_million && fault.occurrence)
      found.push_back({&s, s.path + ": conflicts with per_million; allowed: one of them"});
  }
}

void find_fails(const Scenario& scenario, const std::vector<Setting>& settings,
                const IsWrong& is_wrong, Mistakes& found) {
  for (std::size_t i = 0; i < scenario.fail.size(); ++i) {
    const std::string path = fmt::format("fail[{}]", i);
    const auto is_of_entry = [&](const Setting& s) {
      return s.path.starts_with(path + ".") || (!i && s.path.starts_with("fail."));
    };
    const auto said = std::ranges::find_if(settings, is_of_entry);
    if (said == settings.end() || is_wrong(path) || is_wrong("fail.")) continue;
    if (i == attach::kMostFails) {
      found.push_back({&*said, fmt::format("{}: is one too many; allowed: {} entries", path, i)});
      return;
    }
    const std::string problem = attach::fail_mistake(scenario.fail[i]);
    if (problem.empty()) continue;
    const auto status = std::ranges::find_if(
        settings, [&](const Setting& s) { return is_of_entry(s) && s.path.ends_with(".status"); });
    const Setting& at = status == settings.end() ? *said : *status;
    found.push_back({&at, at.path.substr(0, at.path.rfind('.')) + problem});
  }
}
}  // namespace

void settle_faults(Scenario& scenario, const std::vector<Setting>& settings) {
  const auto is_said = [&](std::size_t i, std::string_view key) {
    const std::string path = fmt::format("faults[{}].{}", i, key);
    return std::ranges::any_of(settings, [&](const Setting& s) { return s.path == path; });
  };
  for (std::size_t i = 0; i < scenario.faults.size(); ++i)
    if (is_said(i, "per_million") && !is_said(i, "occurrence")) scenario.faults[i].occurrence = 0;
}

std::vector<SettingMistake> fault_mistakes(const Scenario& scenario,
                                           const std::vector<Setting>& settings,
                                           const IsWrong& is_wrong) {
  Mistakes found;
  for (const auto find : {find_delays, find_occurrences, find_fails})
    find(scenario, settings, is_wrong, found);
  return found;
}
}  // namespace hca::testbench

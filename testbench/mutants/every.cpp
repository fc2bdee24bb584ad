// SPDX-License-Identifier: Apache-2.0
#include "testbench/mutants/every.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "model/proto/wire/framing.h"
#include "model/proto/wire/opcodes.h"
#include "testbench/mutants/mistake.h"
#include "testbench/mutants/reached.h"
#include "testbench/mutants/trial.h"

namespace hca::testbench {
namespace {
// The values of a scope's key: those that a packet for this device may have.
std::set<u32> values_of(std::string_view key) {
  std::set<u32> values;
  if (key == "framing")
    for (u32 i = 0; i < proto::kFramingCount; ++i) values.insert(i);
  for (const proto::OpcodeRow& row : proto::kOpcodeRows) {
    const bool known = row.service == proto::Service::Rc || row.service == proto::Service::Uc ||
                       row.service == proto::Service::Ud;
    if (!known) continue;
    if (key == "service") values.insert(u32(row.service));
    if (key == "operation") values.insert(row.code & 31u);
    if (key == "opcode") values.insert(row.code);
  }
  if (values.empty())
    throw std::runtime_error(fmt::format("--vary {}: is no key; allowed: {}", key,
                                         fmt::join(mutants::kScopeKeys, ", ")));
  return values;
}

std::set<std::string> names_of(const EveryMistake& which) {
  std::set<std::string> names;
  for (const auto* m = mutants::Mutant::first(); m; m = m->next())
    if (!fnmatch(which.names.c_str(), m->name().c_str(), 0)) names.insert(m->name());
  if (names.empty())
    throw std::runtime_error(
        fmt::format("--mistake {}: matches none; --list names all", which.names));
  return names;
}

std::size_t key_index(std::string_view key) {
  return std::size_t(std::ranges::find(mutants::kScopeKeys, key) - mutants::kScopeKeys.begin());
}

// Each mistake for one value at a time, if a vector reaches it; the others are counted. Maps the
// name of the trial to its printed name.
std::map<std::string, std::string> vary(const std::set<std::string>& names,
                                        std::span<const std::string> vectors,
                                        const EveryMistake& which, Unnoticed& unnoticed) {
  const std::set<u32> values = values_of(which.vary);
  const std::size_t key = key_index(which.vary);
  const ReachedPlaces reached = find_reached(vectors, which.jobs);
  std::map<std::string, std::string> trials;
  for (const std::string& name : names)
    for (const u32 value : values) {
      const std::string trial = fmt::format("{}@{}={}", name, which.vary, value);
      const std::string told = fmt::format("{} ({})", trial, value_name(key, value));
      const std::optional<bool> could = could_reach(name, key, value);
      if (reached.at(name)[key][value] && could.value_or(true)) {
        trials.emplace(trial, told);
        continue;
      }
      ++unnoticed.never_reached;
      if (could.value_or(false)) unnoticed.reachable.push_back(told);
    }
  return trials;
}

bool is_noticed(const nlohmann::json& answer) {
  for (const auto& [vector, runners] : answer.at("results").items())
    for (const auto& [runner, result] : runners.items())
      if (result != "passed") return true;
  return false;
}
}  // namespace

Unnoticed try_every(std::span<const std::string> vectors, const EveryMistake& which) {
  Unnoticed unnoticed;
  std::map<std::string, std::string> trials;
  const std::set<std::string> chosen = names_of(which);
  if (which.vary.empty())
    for (const std::string& name : chosen) trials.emplace(name, name);
  else
    trials = vary(chosen, vectors, which, unnoticed);
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [name, told] : trials)
    pairs.push_back({{"mutant", name},
                     {"vectors", nlohmann::json(std::vector(vectors.begin(), vectors.end()))},
                     {"until_noticed", true}});
  std::set<std::string> names;
  for (const nlohmann::json& answer : try_mutants(pairs, which.jobs, which.milliseconds)) {
    ++unnoticed.tried;
    if (!is_noticed(answer)) names.insert(trials.at(answer.at("mutant").get<std::string>()));
  }
  unnoticed.names.assign(names.begin(), names.end());
  return unnoticed;
}
}  // namespace hca::testbench

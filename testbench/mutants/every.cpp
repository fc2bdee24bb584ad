// SPDX-License-Identifier: Apache-2.0
#include "testbench/mutants/every.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "model/proto/framing.h"
#include "model/proto/mutant.h"
#include "model/proto/opcodes.h"
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
    throw std::runtime_error(
        fmt::format("--vary {}: is no key; allowed: {}", key, fmt::join(proto::kScopeKeys, ", ")));
  return values;
}

std::vector<std::string> names_of(const EveryMistake& which) {
  std::set<std::string> names;
  for (const auto* m = proto::Mutant::first(); m; m = m->next())
    if (!fnmatch(which.names.c_str(), m->name().c_str(), 0)) names.insert(m->name());
  if (names.empty())
    throw std::runtime_error(
        fmt::format("--mistake {}: matches none; --list names all", which.names));
  if (which.vary.empty()) return {names.begin(), names.end()};
  std::vector<std::string> varied;
  for (const std::string& name : names)
    for (const u32 value : values_of(which.vary))
      varied.push_back(fmt::format("{}@{}={}", name, which.vary, value));
  return varied;
}

bool is_noticed(const nlohmann::json& answer) {
  for (const auto& [vector, runners] : answer.at("results").items())
    for (const auto& [runner, result] : runners.items())
      if (result != "passed") return true;
  return false;
}
}  // namespace

Unnoticed try_every(std::span<const std::string> vectors, const EveryMistake& which) {
  nlohmann::json pairs = nlohmann::json::array();
  for (const std::string& name : names_of(which))
    pairs.push_back({{"mutant", name},
                     {"vectors", nlohmann::json(std::vector(vectors.begin(), vectors.end()))},
                     {"until_noticed", true}});
  Unnoticed unnoticed;
  std::set<std::string> names;
  for (const nlohmann::json& answer : try_mutants(pairs, which.jobs, which.milliseconds)) {
    ++unnoticed.tried;
    if (!is_noticed(answer)) names.insert(answer.at("mutant").get<std::string>());
  }
  unnoticed.names.assign(names.begin(), names.end());
  return unnoticed;
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/sweep/knob_at.h"

#include <charconv>
#include <map>

#include "testbench/scenario/scenario_knobs.h"

namespace hca::testbench {
namespace {
// "workload[3].sizes[1].size" is "workload[].sizes[].size" with 3 and 1.
struct GenericPath {
  std::string path;
  std::vector<std::size_t> indices;
};
GenericPath generic(const std::string& path) {
  GenericPath found;
  for (std::size_t i = 0; i < path.size(); ++i) {
    found.path += path[i];
    if (path[i] != '[') continue;
    std::size_t index = 0;
    const char* from = path.data() + i + 1;
    const auto read = std::from_chars(from, path.data() + path.size(), index);
    if (read.ec != std::errc{}) return {path, {}};
    found.indices.push_back(index);
    i += std::size_t(read.ptr - from);
  }
  return found;
}

using KnobMap = std::map<std::string, engine::KnobInfo, std::less<>>;
const KnobMap& all_knobs() {
  static const KnobMap all = [] {
    Scenario scenario;
    WorkloadConfig workload;
    FaultConfig fault;
    attach::FailConfig fail;
    MixConfig mix;
    SizeConfig size;
    ServeTimeConfig time;
    KnobTable table = knobs_of(scenario);
    table.add("workload[]", workload);
    table.add("workload[].mix", mix);
    table.add("workload[].sizes[]", size);
    table.add("workload[].serve_times[]", time);
    table.add("faults[]", fault);
    table.add("fail[]", fail);
    KnobMap map;
    for (const KnobTable::Entry& e : table.entries()) map.emplace(e.path, e.info);
    return map;
  }();
  return all;
}

// True: the lists of the scenario have these entries.
bool has_entries(const GenericPath& at, const Scenario& scenario) {
  if (at.indices.empty()) return true;
  if (at.path.starts_with("fail[")) return at.indices[0] < scenario.fail.size();
  if (at.path.starts_with("faults")) return at.indices[0] < scenario.faults.size();
  if (at.indices[0] >= scenario.workload.size()) return false;
  const WorkloadConfig& w = scenario.workload[at.indices[0]];
  const bool is_time = at.path.starts_with("workload[].serve_times");
  return at.indices.size() == 1 ||
         at.indices[1] < (is_time ? w.serve_times.size() : w.sizes.size());
}
}  // namespace

std::optional<engine::KnobInfo> knob_at(const std::string& path, const Scenario& scenario) {
  const GenericPath at = generic(path);
  const auto found = all_knobs().find(at.path);
  if (found == all_knobs().end() || !has_entries(at, scenario)) return std::nullopt;
  return found->second;
}

std::string nearest_knob(const std::string& path) {
  std::vector<std::string_view> known;
  for (const auto& [name, info] : all_knobs()) known.push_back(name);
  const std::string at = generic(path).path, nearest = nearest_path(at, known);
  return nearest == at ? "" : nearest;  // known, but not in this scenario
}
}  // namespace hca::testbench

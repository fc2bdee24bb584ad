// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "testbench/scenario_file.h"
#include "testbench/scenario_knobs.h"

namespace hca::testbench {
namespace {
// "workload[3].depth": list, index and the key's path inside of the entry, with its dot. The
// brackets come from read_yaml(), never from a key of the text, so the index counts real entries.
struct ListKey {
  std::string_view list, key;
  std::size_t index;
};
std::optional<ListKey> list_key(std::string_view path) {
  const auto open = path.find('['), close = path.find("]", open);
  if (open == path.npos || close == path.npos) return std::nullopt;
  ListKey found{path.substr(0, open), path.substr(close + 1), 0};
  std::from_chars(path.data() + open + 1, path.data() + close, found.index);
  return found;
}
// A path that is, or lies below, a list without saying which entry.
bool misses_entry(std::string_view path, std::string_view list) {
  return path == list || (path.starts_with(list) && path[list.size()] == '.');
}

class Loader {
 public:
  Loader(Scenario& scenario, std::string file)
      : scenario_(scenario), file_(std::move(file)), table_(knobs_of(scenario)) {}
  // What is for both chips comes first, whatever the order of the text.
  void load(const std::vector<Setting>& settings) {
    for (const bool single : {false, true})
      for (const Setting& s : settings)
        if (is_of_one_chip(s.path) == single) take(s);
    check();
    if (!errors_.empty()) throw ScenarioError(errors_);
  }

 private:
  void take(const Setting& s) {
    const auto in_list = list_key(s.path);
    if (in_list && in_list->list == "workload") return take(s, *in_list, scenario_.workload);
    if (in_list && in_list->list == "faults") return take(s, *in_list, scenario_.faults);
    if (s.path == "faults" && s.text == "[]") return;
    if (s.path == "workload" && s.text == "[]")
      return complain(s, "workload: is empty; allowed: one entry or more");
    for (const std::string_view list : {"workload", "faults"})
      if (misses_entry(s.path, list))
        return complain(s, s.path + ": is no entry of a list; allowed: \"" + std::string(list) +
                               ":\" and below it entries that begin with \"- \"");
    if (const auto problem = table_.set(s.path, s.text)) complain(s, *problem);
  }
  template <class Config>
  void take(const Setting& s, const ListKey& key, std::vector<Config>& list) {
    if (key.index >= list.size()) list.resize(key.index + 1);
    KnobTable entry;
    const std::string path = fmt::format("{}[{}]", key.list, key.index);
    entry.add(path, list[key.index]);
    if (!key.key.starts_with('.'))
      complain(s, fmt::format("{}: is no map of keys; allowed: {}", s.path, names_in(entry)));
    else if (const auto problem = entry.set(s.path, s.text))
      complain(s, *problem);
    if constexpr (std::is_same_v<Config, WorkloadConfig>)
      workload_lines_.resize(list.size(), s.line);
  }
  void complain(const Setting& s, const std::string& problem) {
    errors_.push_back(fmt::format("{}:{}: {}", file_, s.line, problem));
  }
  // What no single value shows.
  void check() {
    for (std::size_t i = 0; i < workload_lines_.size(); ++i) {
      const WorkloadConfig& w = scenario_.workload[i];
      if (w.from > w.to)
        errors_.push_back(
            fmt::format("{}:{}: workload[{}].to: {} B is less than from; allowed: {} B or more",
                        file_, workload_lines_[i], i, w.to, w.from));
    }
  }
  static std::string names_in(const KnobTable& table) {
    std::string names;
    for (const KnobTable::Entry& e : table.entries())
      names += (names.empty() ? "" : ", ") + std::string(e.info.name);
    return names;
  }
  Scenario& scenario_;
  std::string file_;
  KnobTable table_;
  std::vector<int> workload_lines_;
  std::vector<std::string> errors_;
};
}  // namespace

bool is_of_both_chips(std::string_view path) {
  return path.starts_with("hca.") || path.starts_with("pcie.") || path.starts_with("host.");
}
bool is_of_one_chip(std::string_view path) {
  const auto dot = path.find('.');
  return dot != path.npos && dot && (path[dot - 1] == '0' || path[dot - 1] == '1');
}

KnobTable knobs_of(Scenario& scenario) {
  KnobTable table;
  // For both chips, then for each.
  for (const std::string which : {"", "0", "1"})
    for (unsigned i = 0; i < kChips; ++i) {
      if (!which.empty() && which != std::to_string(i)) continue;
      blocks::for_each_block_config(scenario.hca[i], [&]<class Config>(Config& config) {
        table.add("hca" + which + "." + std::string(engine::Knobs<Config>::block), config);
      });
      table.add("pcie" + which, scenario.pcie[i]);
      table.add("host" + which, scenario.host[i]);
    }
  table.add("wire", scenario.wire);
  table.add("connection", scenario.connection);
  table.add("run", scenario.run);
  return table;
}

std::vector<tlm_::FaultRule> Scenario::fault_rules() const {
  std::vector<tlm_::FaultRule> rules;
  for (const FaultConfig& f : faults) {
    tlm_::FaultRule rule{f.action, u8(f.from), {}, {}, f.occurrence, f.per_million, f.delay};
    if (f.qpn != FaultConfig::kAny) rule.qpn = f.qpn;
    if (f.psn != FaultConfig::kAny) rule.psn = f.psn;
    rules.push_back(rule);
  }
  return rules;
}

Scenario default_scenario() {
  Scenario scenario;
  for (const Test test : {Test::Bandwidth, Test::Latency})
    for (const Operation operation : {Operation::Write, Operation::Send}) {
      WorkloadConfig w;
      w.operation = operation, w.test = test;
      if (test == Test::Latency) w.inline_below = 220;
      scenario.workload.push_back(w);
    }
  return scenario;
}

namespace {
Scenario scenario_of(const std::vector<Setting>& settings, const std::string& file) {
  Scenario scenario;
  Loader(scenario, file).load(settings);
  if (scenario.workload.empty()) scenario.workload = default_scenario().workload;
  return scenario;
}
}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& file) {
  return scenario_of(read_yaml(text, file), file);
}
Scenario load_scenario(const std::string& file) { return scenario_of(read_yaml_file(file), file); }
}  // namespace hca::testbench

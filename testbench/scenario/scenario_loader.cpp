// SPDX-License-Identifier: Apache-2.0
// From the settings of a scenario's text to the scenario.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "testbench/scenario/chip_rules.h"
#include "testbench/scenario/link_defaults.h"
#include "testbench/scenario/preset.h"
#include "testbench/scenario/scenario_faults.h"
#include "testbench/scenario/scenario_file.h"
#include "testbench/scenario/scenario_knobs.h"
#include "testbench/scenario/scenario_objects.h"
#include "testbench/scenario/traffic_of.h"
#include "testbench/scenario/workload_rules.h"
#include "testbench/text/missing_part.h"
#include "testbench/text/shortened.h"

namespace hca::testbench {
namespace {
constexpr std::array<std::string_view, 3> kMayBeEmpty{"faults", "fail", "vl_arbitration"};
// What an entry of the workload has below a key.
struct Inner {
  std::string_view key, problem, allowed;
};
constexpr std::array kInner{Inner{".mix", "no map of weights", "{write: 70, read: 30}"},
                            Inner{".sizes", "no list", "[{size: 64 B, weight: 3}]"},
                            Inner{".serve_times", "no list", "[{time: 1 us, weight: 3}]"}};
// A path that is, or lies below, a list without saying which entry.
bool misses_entry(std::string_view path, std::string_view list) {
  return path == list || (path.starts_with(list) && path[list.size()] == '.');
}

class Loader {
 public:
  Loader(Scenario& scenario, std::string file)
      : scenario_(scenario), file_(std::move(file)), table_(knobs_of(scenario)) {}
  // Common settings first, independent of the order of the text: those for both ports, and among
  // these those for both chips.
  void load(const std::vector<Setting>& settings, std::vector<std::string> errors) {
    errors_ = std::move(errors);
    for (const Setting& s : settings)
      if (!s.of_preset)
        scenario_.given.push_back(
            {s.path, line_of(s) ? fmt::format("{}:{}", file_of(s), s.line) : "--set"});
    for (const bool one_port : {false, true})
      for (const bool one_chip : {false, true})
        for (const Setting& s : settings)
          if (is_of_one_port(s.path) == one_port && is_of_one_chip(s.path) == one_chip) take(s);
    settings_ = &settings;
    check();
    if (!errors_.empty()) throw ScenarioError(errors_);
  }

 private:
  void take(const Setting& s) {
    const auto in_list = list_key(s.path);
    if (in_list && in_list->list == "workload") return take(s, *in_list, scenario_.workload);
    if (in_list && in_list->list == "faults") return take(s, *in_list, scenario_.faults);
    if (in_list && in_list->list == "vl_arbitration")
      return take(s, *in_list, scenario_.vl_arbitration);
    if (in_list && in_list->list == "fail") return take(s, *in_list, scenario_.fail);
    if (s.path.starts_with("fail.")) return take_only_fail(s);
    if (s.path == "rtl" || (in_list && in_list->list == "rtl" && in_list->key.empty()))
      return take_rtl(s);
    if (std::ranges::find(kMayBeEmpty, s.path) != kMayBeEmpty.end() && s.text == "[]") return;
    if (s.path == "workload" && s.text == "[]")
      return complain(s, "workload: is empty; allowed: one entry or more");
    for (const std::string_view list : {"workload", "faults", "fail", "vl_arbitration"})
      if (misses_entry(s.path, list))
        return complain(s, s.path + ": is no entry of a list; allowed: \"" + std::string(list) +
                               ":\" and below it entries that begin with \"- \"");
    if (const auto problem = table_.set(s.path, s.text)) complain(s, *problem);
  }
  template <class Config>
  void take(const Setting& s, const ListKey& key, std::vector<Config>& list) {
    if (key.index > list.size() || (!s.line && key.index == list.size()))
      return complain(s, fmt::format("{}: is no entry of {}; allowed: {}", s.path, key.list,
                                     list.empty() ? "none, it has no entries"
                                                  : fmt::format("0 to {}", list.size() - 1)));
    if (key.index == list.size()) list.emplace_back();
    const std::string path = fmt::format("{}[{}]", key.list, key.index);
    KnobTable entry;
    if constexpr (std::is_same_v<Config, WorkloadConfig>) {
      lines_.resize(list.size());
      given_.resize(list.size());
      const std::string name(key.key.substr(key.key.starts_with('.')));
      lines_[key.index].emplace(name, line_of(s));
      given_[key.index].insert(name);
      if (const auto inner = std::ranges::find(kInner, key.key, &Inner::key); inner != kInner.end())
        return complain(s, fmt::format("{}: is {}; allowed: {}", s.path,
                                       s.text == "[]" || s.text == "{}" ? "empty" : inner->problem,
                                       inner->allowed));
      if (const auto inner = list_key(name); inner && inner->list == "sizes")
        return take(s, {path + ".sizes", inner->key, inner->index}, list[key.index].sizes);
      else if (inner && inner->list == "serve_times")
        return take(s, {path + ".serve_times", inner->key, inner->index},
                    list[key.index].serve_times);
      entry.add(path + ".mix", list[key.index].mix);
    }
    entry.add(path, list[key.index]);
    if (!key.key.starts_with('.'))
      complain(s, fmt::format("{}: is no map of keys; allowed: {}", s.path, names_in(entry)));
    else if (const auto problem = entry.set(s.path, s.text))
      complain(s, *problem);
  }
  // A single entry needs no list: "fail: {verb: post_send, nth: 3}".
  void take_only_fail(const Setting& s) {
    if (scenario_.fail.empty()) scenario_.fail.emplace_back();
    KnobTable entry;
    entry.add("fail", scenario_.fail[0]);
    if (const auto problem = entry.set(s.path, s.text)) complain(s, *problem);
  }
  // A name in a list, or all of them in one text.
  void take_rtl(const Setting& s) {
    if (s.text == "[]") return void(scenario_.rtl = {});
    if (s.path == "rtl") scenario_.rtl = {};
    if (const std::string problem = scenario_.rtl.add(s.text); !problem.empty())
      complain(s, s.path + ": " + problem);
  }
  void complain(const Setting& s, const std::string& problem) {
    wrong_.insert(s.path);
    complain(file_of(s), line_of(s), problem);
  }
  const std::string& file_of(const Setting& s) const { return s.file.empty() ? file_ : s.file; }
  // 0: it is of no file.
  static int line_of(const Setting& s) { return s.overrides ? 0 : s.line; }
  void complain(int line, const std::string& problem) { complain(file_, line, problem); }
  void complain(const std::string& file, int line, const std::string& problem) {
    errors_.push_back(line ? fmt::format("{}:{}: {}", file, line, problem) : "--set: " + problem);
  }
  // True: a value at this path or below it is wrong by itself, so its effects on other values mean
  // nothing.
  bool is_wrong(const std::string& path) const {
    const auto at = wrong_.lower_bound(path);
    return at != wrong_.end() && at->starts_with(path);
  }
  // Makes the checks that concern more than one value.
  void check() {
    if (scenario_.workload.empty()) take_default_workload();
    check_ports();
    check_pcie();
    check_wires();
    check_together();
    check_rtl();
    check_chips();
    check_faults();
    for (std::size_t i = 0; i < given_.size(); ++i) {
      WorkloadConfig& w = scenario_.workload[i];
      if (is_wrong(fmt::format("workload[{}]", i))) continue;
      for (const WorkloadMistake& wrong : mistakes_in(scenario_, w, given_[i]))
        complain(line_of(i, wrong.key), fmt::format("workload[{}].{}: {}; allowed: {}", i,
                                                    wrong.key, wrong.problem, wrong.allowed));
      settle_sizes(w, given_[i]);
    }
    if (errors_.empty()) check_service_levels();
    if (errors_.empty()) check_objects();
  }
  // Takes the entries of the default workload that the service supports.
  void take_default_workload() {
    scenario_.workload = default_scenario().workload;
    std::erase_if(scenario_.workload, [&](const WorkloadConfig& w) {
      return !has_operations(scenario_.connection.service(), w);
    });
    if (const u64 mtu = bytes_of_mtu(scenario_.connection.path_mtu);
        scenario_.connection.service() == proto::Service::Ud)
      for (WorkloadConfig& w : scenario_.workload) {
        w.from = std::min(w.from, mtu);
        w.to = std::min(w.to, mtu);
      }
  }
  // Reported at the entry that needs them; the defaults need few, so the knob was set.
  void check_objects() {
    for (const ObjectMistake& m : object_mistakes(scenario_)) {
      const std::string problem = fmt::format("workload[{}]{}: {}", m.entry, m.key, m.problem);
      const auto said = std::find_if(settings_->rbegin(), settings_->rend(),
                                     [&](const Setting& s) { return s.path.ends_with(m.knob); });
      if (m.entry < lines_.size())
        complain(std::ranges::min_element(lines_[m.entry], {}, &LineOfKey::second)->second,
                 problem);
      else if (said != settings_->rend())
        complain(*said, said->path + ": is too little for the default " + problem);
    }
  }
  // Workloads that do not run together use the same queue pairs.
  void check_service_levels() {
    std::map<BundleKey, std::size_t> first;  // entry by bundle
    for (const auto& group : groups_of(scenario_))
      for (std::size_t place = 0; place < group.size(); ++place) {
        const std::size_t i = group[place].entry;
        const std::size_t other =
            first.try_emplace(bundle_of(scenario_.workload[i], place), i).first->second;
        const u32 level = scenario_.workload[i].service_level,
                  wanted = scenario_.workload[other].service_level;
        if (level != wanted)
          return complain(line_of(i, "service_level"),
                          fmt::format("workload[{}].service_level: {} differs from that of "
                                      "workload[{}], which has the same queue pairs; allowed: {}",
                                      i, level, other, wanted));
      }
  }
  // There is a port at both ends of a cable, or at none, and all that names a port means one that
  // is there.
  void check_ports() {
    if (is_wrong("hca.core.ports")) return;
    for (std::size_t i = 0; i < scenario_.nodes.size(); ++i)
      if (is_wrong(fmt::format("hca{}.core.ports", i))) return;
    const auto half = std::ranges::find_if(scenario_.cables, [&](const Cable& cable) {
      return scenario_.has(cable.ends[0]) != scenario_.has(cable.ends[1]);
    });
    for (const Setting& s : *settings_) {
      if (is_wrong(s.path)) continue;
      if (s.path.ends_with(".core.ports") && half != scenario_.cables.end())
        complain(s, s.path + ": " + ports_at(half->ends));
      else if (!scenario_.has({0, 1}) && names_second_port(s))
        complain(s, fmt::format("{}: is of port 2; allowed: port 1, or hca.core.ports: 2", s.path));
    }
  }
  std::string ports_at(const Ends& ends) const {
    const auto ports = [&](const NodePort& at) { return scenario_.nodes[at.node].hca.core.ports; };
    return fmt::format("hca{} has {} and hca{} {}, with a wire at each; allowed: the same",
                       ends[0].node, ports(ends[0]), ends[1].node, ports(ends[1]));
  }
  void check_wires() {
    for (std::size_t i = 0; i < scenario_.cables.size(); ++i) {
      const std::string own = fmt::format("wire{}", i + 1);
      if (!scenario_.is_laid(scenario_.cables[i]) || is_wrong("wire") || is_wrong(own)) continue;
      try {
        tlm_::check_wire(scenario_.cables[i].wire);
      } catch (const engine::ConfigError& error) {
        if (complain_of(error, "wire", own)) return;
      }
    }
  }
  void check_pcie() {
    for (std::size_t i = 0; i < scenario_.nodes.size(); ++i) {
      const std::string own = fmt::format("pcie{}", i);
      if (is_wrong("pcie") || is_wrong(own)) continue;
      try {
        tlm_::check_pcie(scenario_.nodes[i].pcie);
      } catch (const engine::ConfigError& error) {
        if (complain_of(error, "pcie", own)) return;
      }
    }
  }
  // Reported at the last setting that may have caused a mistake, unless one of them is wrong by
  // itself.
  void check_together() {
    for (const ChipMistake& mistake : chip_mistakes(scenario_)) {
      const auto concerns = [&](const Setting& s) {
        return std::any_of(mistake.knobs.begin(), mistake.knobs.end(),
                           [&](std::string_view end) { return s.path.ends_with(end); });
      };
      const auto said = std::find_if(settings_->rbegin(), settings_->rend(), concerns);
      const bool is_clear =
          std::none_of(settings_->begin(), settings_->end(),
                       [&](const Setting& s) { return concerns(s) && is_wrong(s.path); });
      if (said != settings_->rend() && is_clear)
        complain(*said, said->path + ": " + mistake.problem);
    }
  }
  // At the last setting of the knob, below the key of all HCAs or of this one; true: it is for all.
  bool complain_of(const engine::ConfigError& error, const std::string& both,
                   const std::string& own) {
    const std::string knob = error.knob.substr(error.knob.find('.'));
    const auto is_it = [&](const Setting& s) {
      return s.path == both + knob || s.path == own + knob;
    };
    const auto said = std::find_if(settings_->rbegin(), settings_->rend(), is_it);
    if (said == settings_->rend()) {
      complain(1, error.what());
      return true;
    }
    complain(*said, error.what());
    return said->path == both + knob;
  }
  void check_rtl() {
    const auto said = std::find_if(settings_->begin(), settings_->end(),
                                   [](const Setting& s) { return s.path.starts_with("rtl"); });
    if (!scenario_.rtl.any() || said == settings_->end()) return;
    if (!has_rtl()) throw MissingPart("rtl", said->path);
    for (std::size_t i = 0; i < scenario_.nodes.size(); ++i)
      for (const RtlMistake& m : rtl_mistakes(scenario_.rtl, scenario_.nodes[i].hca))
        complain(*said, fmt::format("{}: hca{}.{} {}; allowed: {}", said->path, i, m.knob,
                                    m.problem, m.allowed));
  }
  // The tables of VL arbitration are those of all chips.
  void settle_arbitration() {
    for (const ArbitrationConfig& entry : scenario_.vl_arbitration)
      for (NodeConfig& node : scenario_.nodes)
        (entry.table == ArbitrationTable::High ? node.hca.link_control.high_table
                                               : node.hca.link_control.low_table)
            .push_back({u8(entry.vl), entry.weight});
  }
  void check_chips() {
    settle_arbitration();
    for (std::size_t i = 0; i < scenario_.nodes.size(); ++i) {
      try {
        blocks::check_caches(scenario_.nodes[i].hca.caches);
        blocks::check_link_control(link_control_of(scenario_, unsigned(i)));
      } catch (const engine::ConfigError& error) {
        const std::string block = "." + error.knob.substr(0, error.knob.find('.'));
        const std::string both = "hca" + block, own = fmt::format("hca{}{}", i, block);
        if (is_wrong(both) || is_wrong(own)) continue;
        if (complain_of(error, both, own)) return;
      }
    }
  }
  void check_faults() {
    settle_faults(scenario_, *settings_);
    const auto wrong = [&](const std::string& path) { return is_wrong(path); };
    for (const SettingMistake& m : fault_mistakes(scenario_, *settings_, wrong))
      complain(*m.setting, m.problem);
  }
  // "wire2.latency", "hca.port2.latency", "port: 2" in an entry of a list.
  bool names_second_port(const Setting& s) const {
    if (is_of_one_port(s.path))
      return s.path.starts_with("wire2.") || s.path.find(".port2.") != s.path.npos;
    const auto entry = list_key(s.path);
    if (!entry || entry->key != ".port") return false;
    return (entry->list == "faults" ? scenario_.faults[entry->index].port
                                    : scenario_.workload[entry->index].port) == 2;
  }
  // The line of a key of an entry, of a value below that key, or of the entry.
  int line_of(std::size_t i, const std::string& key) const {
    const auto at = lines_[i].lower_bound(key);
    if (at != lines_[i].end() && at->first.starts_with(key)) return at->second;
    return lines_[i].begin()->second;
  }
  static std::string names_in(const KnobTable& table) {
    std::string names;
    for (const KnobTable::Entry& e : table.entries())
      if (e.path.find(".mix.") == e.path.npos)
        names += (names.empty() ? "" : ", ") + std::string(e.info.name);
    return names;
  }
  Scenario& scenario_;
  std::string file_;
  KnobTable table_;
  using LineOfKey = std::pair<const std::string, int>;
  std::vector<std::map<std::string, int>> lines_;  // of the keys of each workload entry
  std::vector<GivenKeys> given_;
  std::vector<std::string> errors_;
  std::set<std::string, std::less<>> wrong_;  // paths
  const std::vector<Setting>* settings_ = nullptr;
};
}  // namespace

Setting setting_of(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == text.npos || !equals)
    throw ScenarioError(
        {fmt::format("--set: \"{}\" is no setting; allowed: key=value", shortened(text))});
  return {text.substr(0, equals), text.substr(equals + 1), 0, true};
}

namespace {
// "key=value" replaces the value of the text, or is added to it.
void override_with(std::vector<Setting>& settings, const std::string& text,
                   std::vector<std::string>& errors) {
  Setting given;
  try {
    given = setting_of(text);
  } catch (const ScenarioError& error) {
    return errors.push_back(error.what());
  }
  std::erase_if(settings, [&](const Setting& s) {
    return !s.overrides && s.path != given.path && covers(given.path, s.path);
  });
  for (Setting& s : settings)
    if (s.path == given.path) {
      s.text = std::move(given.text);
      s.overrides = true;
      return;
    }
  settings.push_back(std::move(given));
}
}  // namespace

Scenario scenario_of(std::vector<Setting> settings, const std::string& file,
                     const std::vector<std::string>& overrides) {
  std::vector<std::string> errors;
  for (const std::string& text : overrides) override_with(settings, text, errors);
  take_preset(settings, file, errors);
  Scenario scenario;
  Loader(scenario, file).load(settings, std::move(errors));
  return scenario;
}
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const std::vector<std::string>& overrides) {
  return scenario_of(read_yaml(text, file), file, overrides);
}
Scenario load_scenario(const std::string& file, const std::vector<std::string>& overrides) {
  return scenario_of(file.empty() ? std::vector<Setting>{} : read_yaml_file(file), file, overrides);
}
}  // namespace hca::testbench

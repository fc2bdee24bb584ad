// SPDX-License-Identifier: Apache-2.0
#include "testbench/run/shrink.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>

#include "testbench/testbed/fresh_kernel.h"

namespace hca::testbench {
namespace {
constexpr unsigned kMostRuns = 2000;

// The failure without its numbers: they change with the faults.
std::string words_of_failure(const RunResult& result) {
  if (result.failures.empty()) return {};
  std::string words = result.failures[0].substr(0, result.failures[0].find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

FaultConfig config_of(const WireFault& fault, const Scenario& scenario) {
  const tlm_::FaultRecord& r = fault.record;
  FaultConfig config;
  config.action = r.action;
  config.from = fault.sender.node;
  config.delay = r.delay;
  config.port = scenario.ports() > 1 ? fault.sender.port + 1 : 0;
  config.qpn = r.qpn;
  config.psn = r.psn;
  config.occurrence = r.occurrence;
  return config;
}

// Ends a run from within.
struct CutShort {};

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, const RunResult& failed, const ShrinkHooks& hooks)
      : words_(words_of_failure(failed)), hooks_(hooks) {
    best_.scenario = scenario;
    best_.scenario.faults.clear();
    for (const WireFault& fault : failed.faults)
      if (fault.record.occurrence) best_.scenario.faults.push_back(config_of(fault, scenario));
    best_.result = failed;
  }
  Shrunk shrink() {
    best_.repeats = without_later() || fails(best_.scenario);
    if (best_.repeats && !without_all()) {
      for_each_entry([this](std::size_t i) { fewest_messages(i); });
      without_later();
      take_faults_away();
    }
    if (best_.repeats) for_each_entry([this](std::size_t i) { fewest_messages(i); });
    return std::move(best_);
  }

 private:
  // Runs it, and keeps it if it fails in the same way.
  bool fails(const Scenario& scenario) {
    best_.stopped |= best_.runs >= kMostRuns || hooks_.stop();
    if (best_.stopped) return false;
    ++best_.runs;
    const std::optional<RunResult> result = run(scenario);
    const bool same = result && words_of_failure(*result) == words_;
    if (same) {
      best_.scenario = scenario;
      best_.result = *result;
      best_.repeats = true;
      hooks_.better(best_);
    }
    hooks_.after_run(best_);
    return same;
  }
  // Nothing: it was cut.
  std::optional<RunResult> run(const Scenario& scenario) try {
    const u64 limit = 2 * best_.result.failed_at;
    const FreshKernel kernel;
    return Runner(scenario,
                  [&](const ProgressState& state) {
                    best_.stopped |= hooks_.stop();
                    if (best_.stopped || state.picoseconds > limit) throw CutShort{};
                  })
        .run();
  } catch (const CutShort&) {
    return std::nullopt;
  }

  bool without_all() {
    Scenario scenario = best_.scenario;
    scenario.faults.clear();
    return fails(scenario);
  }
  // Only the faults that came before the failure.
  bool without_later() {
    Scenario scenario = best_.scenario;
    scenario.faults.clear();
    for (const WireFault& fault : best_.result.faults)
      if (fault.record.occurrence && fault.record.picoseconds <= best_.result.failed_at)
        scenario.faults.push_back(config_of(fault, scenario));
    return scenario.faults.size() < best_.scenario.faults.size() && fails(scenario);
  }
  // Takes away parts of the list, of half its length at first, of one fault at last; the later ones
  // first.
  void take_faults_away() {
    std::size_t part = best_.scenario.faults.size();
    while (part > 1) {
      part = (part + 1) / 2;
      bool again = true;
      while (again && !best_.stopped) {
        again = false;
        for (std::size_t end = best_.scenario.faults.size(); end;) {
          const std::size_t from = end - std::min(part, end);
          again |= without(from, end);
          end = from;
        }
      }
    }
  }
  bool without(std::size_t from, std::size_t end) {
    Scenario scenario = best_.scenario;
    auto& faults = scenario.faults;
    if (end - from >= faults.size()) return false;  // all of them: the run does not fail then
    faults.erase(faults.begin() + std::ptrdiff_t(from), faults.begin() + std::ptrdiff_t(end));
    return fails(scenario);
  }

  template <class Visit>
  void for_each_entry(const Visit& visit) {
    for (std::size_t i = 0; i < best_.scenario.workload.size(); ++i) visit(i);
  }
  // By bisection: with `enough` it fails, with `few` it does not.
  void fewest_messages(std::size_t entry) {
    u64 few = 0, enough = best_.scenario.workload[entry].messages;
    while (enough > few + 1 && !best_.stopped) {
      Scenario scenario = best_.scenario;
      const u64 middle = few + (enough - few) / 2;
      scenario.workload[entry].messages = middle;
      (fails(scenario) ? enough : few) = middle;
    }
  }

  const std::string words_;
  const ShrinkHooks& hooks_;
  Shrunk best_;
};

YAML::Node yaml_of(const Scenario& scenario) {
  YAML::Node list(YAML::NodeType::Sequence);
  for (const FaultConfig& f : scenario.faults) {
    YAML::Node entry;
    entry.SetStyle(YAML::EmitterStyle::Flow);
    entry["action"] = std::string(tlm_::kFaultNames[unsigned(f.action)]);
    entry["from"] = f.from;
    if (f.port) entry["port"] = f.port;
    entry["qpn"] = f.qpn;
    entry["psn"] = f.psn;
    entry["occurrence"] = f.occurrence;
    if (f.delay) entry["delay"] = fmt::format("{} ps", f.delay);
    list.push_back(entry);
  }
  return list;
}
}  // namespace

u64 Shrunk::messages() const {
  u64 all = 0;
  for (const WorkloadConfig& w : scenario.workload) all += w.messages;
  return all;
}

Shrunk shrink(const Scenario& scenario, const RunResult& failed, const ShrinkHooks& hooks) {
  return Shrinker(scenario, failed, hooks).shrink();
}

std::string text_of_faults(const Scenario& scenario) {
  YAML::Node node;
  node["faults"] = yaml_of(scenario);
  return YAML::Dump(node) + "\n";
}

std::string text_with_faults(const std::string& file, const Scenario& scenario) {
  YAML::Node node = file.empty() ? YAML::Node() : YAML::LoadFile(file);
  node["faults"] = yaml_of(scenario);
  if (node["workload"])
    for (std::size_t i = 0; i < scenario.workload.size(); ++i)
      if (scenario.workload[i].messages)
        node["workload"][i]["messages"] = scenario.workload[i].messages;
  return YAML::Dump(node) + "\n";
}
}  // namespace hca::testbench

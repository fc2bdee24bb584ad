// SPDX-License-Identifier: Apache-2.0
#include "testbench/shrink.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "testbench/fresh_kernel.h"

namespace hca::testbench {
namespace {
constexpr unsigned kMostRuns = 2000;

// What failed, without its numbers: they change with the faults.
std::string words_of_failure(const RunResult& result) {
  if (result.failures.empty()) return {};
  std::string words = result.failures[0].substr(0, result.failures[0].find('\n'));
  std::erase_if(words, [](char c) { return c >= '0' && c <= '9'; });
  return words;
}

FaultConfig config_of(const WireFault& fault, const Scenario& scenario) {
  const tlm_::FaultRecord& r = fault.record;
  FaultConfig config;
  config.action = r.action, config.from = r.direction, config.delay = r.delay;
  config.port = scenario.ports() > 1 ? fault.port : 0;
  config.qpn = r.qpn, config.psn = r.psn, config.occurrence = r.occurrence;
  return config;
}

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, const RunResult& failed, const ShrinkSink& sink)
      : words_(words_of_failure(failed)), sink_(sink) {
    best_.scenario = scenario;
    best_.scenario.faults.clear();
    for (const WireFault& fault : failed.faults)
      if (fault.record.occurrence) best_.scenario.faults.push_back(config_of(fault, scenario));
  }
  Shrunk shrink() {
    best_.repeats = fails(best_.scenario);
    if (best_.repeats && !without_all()) take_faults_away();
    if (best_.repeats)
      for (std::size_t i = 0; i < best_.scenario.workload.size(); ++i) halve_messages(i);
    return std::move(best_);
  }

 private:
  // Runs it, and keeps it if it fails in the same way.
  bool fails(const Scenario& scenario) {
    if (best_.runs >= kMostRuns) return false;
    ++best_.runs;
    RunResult result;
    {
      const FreshKernel kernel;
      result = Runner(scenario, {}).run();
    }
    const bool same = words_of_failure(result) == words_;
    if (same) best_.scenario = scenario, best_.result = std::move(result);
    u64 messages = 0;
    for (const WorkloadConfig& w : best_.scenario.workload) messages += w.messages;
    sink_(best_.runs, best_.scenario.faults.size(), messages);
    return same;
  }
  bool without_all() {
    Scenario scenario = best_.scenario;
    scenario.faults.clear();
    return fails(scenario);
  }
  // Takes away parts of the list, of half its length at first, of one fault at last.
  void take_faults_away() {
    std::size_t part = best_.scenario.faults.size();
    while (part > 1) {
      part = (part + 1) / 2;
      bool again = true;
      while (again) {
        again = false;
        for (std::size_t from = 0; from < best_.scenario.faults.size();) {
          if (without(from, part))
            again = true;
          else
            from += part;
        }
      }
    }
  }
  bool without(std::size_t from, std::size_t count) {
    Scenario scenario = best_.scenario;
    auto& faults = scenario.faults;
    if (count >= faults.size()) return false;  // all of them: the run does not fail then
    const auto first = faults.begin() + std::ptrdiff_t(from);
    faults.erase(first, first + std::ptrdiff_t(std::min(count, faults.size() - from)));
    return fails(scenario);
  }
  void halve_messages(std::size_t entry) {
    Scenario scenario = best_.scenario;
    do scenario.workload[entry].messages /= 2;
    while (scenario.workload[entry].messages && fails(scenario));
  }

  const std::string words_;
  const ShrinkSink& sink_;
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
    entry["qpn"] = f.qpn, entry["psn"] = f.psn, entry["occurrence"] = f.occurrence;
    if (f.delay) entry["delay"] = fmt::format("{} ps", f.delay);
    list.push_back(entry);
  }
  return list;
}
}  // namespace

Shrunk shrink(const Scenario& scenario, const RunResult& failed, const ShrinkSink& sink) {
  return Shrinker(scenario, failed, sink).shrink();
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

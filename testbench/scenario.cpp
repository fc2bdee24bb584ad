// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario.h"

#include <algorithm>

#include "testbench/scenario_knobs.h"

namespace hca::testbench {
bool is_of_both_chips(std::string_view path) {
  return path.starts_with("hca.") || path.starts_with("pcie.") || path.starts_with("host.");
}
bool is_of_one_chip(std::string_view path) {
  const std::string_view group = path.substr(0, path.find('.'));
  return !group.starts_with("wire") && (group.ends_with('0') || group.ends_with('1'));
}
namespace {
// Of "port.latency" or "hca0.port.latency".
bool names_group(std::string_view path, std::string_view group) {
  const auto dot = path.find('.');
  const std::string_view rest =
      path.starts_with("hca") ? path.substr(std::min(dot, path.size() - 1) + 1) : path;
  return rest.substr(0, rest.find('.')) == group;
}
}  // namespace
bool covers(std::string_view path, std::string_view one) {
  constexpr std::string_view kNumbered[] = {"hca", "pcie", "host", "port", "wire"};
  for (;;) {
    const auto end = path.find('.'), end_of_one = one.find('.');
    const std::string_view group = path.substr(0, end), other = one.substr(0, end_of_one);
    const bool numbered = other.size() == group.size() + 1 && other.starts_with(group) &&
                          std::ranges::find(kNumbered, group) != std::end(kNumbered);
    if ((end == path.npos) != (end_of_one == one.npos) || (group != other && !numbered))
      return false;
    if (end == path.npos) return true;
    path.remove_prefix(end + 1), one.remove_prefix(end_of_one + 1);
  }
}
bool is_of_both_ports(std::string_view path) {
  return names_group(path, "port") || names_group(path, "wire");
}
bool is_of_one_port(std::string_view path) {
  for (const std::string_view group : {"port1", "port2", "wire1", "wire2"})
    if (names_group(path, group)) return true;
  return false;
}

KnobTable knobs_of(Scenario& scenario) {
  KnobTable table;
  // For both chips, then for each.
  for (const std::string which : {"", "0", "1"})
    for (unsigned i = 0; i < kChips; ++i) {
      if (!which.empty() && which != std::to_string(i)) continue;
      const std::string hca = "hca" + which + ".";
      blocks::for_each_block_config(scenario.hca[i], [&]<class Config>(Config& config) {
        table.add(hca + std::string(engine::Knobs<Config>::block), config);
      });
      for (unsigned port = 0; port < blocks::kMaxPorts; ++port)
        table.add(hca + "port" + std::to_string(port + 1), scenario.hca[i].port[port]);
      table.add("pcie" + which, scenario.pcie[i]);
      table.add("host" + which, scenario.host[i]);
    }
  for (tlm_::WireConfig& wire : scenario.wire) table.add("wire", wire);
  for (unsigned port = 0; port < blocks::kMaxPorts; ++port)
    table.add("wire" + std::to_string(port + 1), scenario.wire[port]);
  table.add("connection", scenario.connection);
  table.add("verbs", scenario.verbs);
  table.add("run", scenario.run);
  return table;
}

bool Scenario::waits_for_events() const {
  return std::ranges::any_of(workload,
                             [&](const WorkloadConfig& w) { return waits_for_events(w); });
}

bool Scenario::waits_for_events(const WorkloadConfig& w) const {
  const bool hosts = host[0].wait == HostWait::Event || host[1].wait == HostWait::Event;
  return w.wait == WaitKind::Event || (w.wait == WaitKind::Host && hosts);
}

tlm_::FaultRule rule_of(const FaultConfig& f, u32 number) {
  tlm_::FaultRule rule{.action = f.action,
                       .direction = u8(f.from),
                       .qpn = {},
                       .psn = {},
                       .occurrence = f.per_million ? 0 : f.occurrence,
                       .per_million = f.per_million,
                       .delay = f.delay,
                       .number = number};
  if (f.qpn != FaultConfig::kAny) rule.qpn = f.qpn;
  if (f.psn != FaultConfig::kAny) rule.psn = f.psn;
  return rule;
}

std::vector<tlm_::FaultRule> Scenario::fault_rules(unsigned port) const {
  std::vector<tlm_::FaultRule> rules;
  for (u32 number = 0; number < faults.size(); ++number)
    if (const FaultConfig& f = faults[number]; !f.port || f.port == port + 1)
      rules.push_back(rule_of(f, number));
  return rules;
}

const GivenKey* Scenario::find_given(std::string_view path) const {
  const auto found = std::ranges::find(given, path, &GivenKey::path);
  return found == given.end() ? nullptr : &*found;
}

std::vector<std::pair<Operation, u32>> WorkloadConfig::weights() const {
  std::vector<std::pair<Operation, u32>> all;
  std::size_t which = 0;
  // The knobs of a mix have the order and the names of the operations.
  engine::for_each_knob(mix, [&](const auto& knob) {
    if (knob.value()) all.push_back({Operation(which), u32(knob.value())});
    ++which;
  });
  return all;
}

Scenario default_scenario() {
  Scenario scenario;
  for (const Test test : {Test::Bandwidth, Test::Latency})
    for (const Operation operation : {Operation::Write, Operation::Send, Operation::Read,
                                      Operation::CompareSwap, Operation::FetchAdd}) {
      WorkloadConfig w;
      w.operation = operation, w.test = test;
      if (row_of(operation).is_atomic()) w.from = w.to = proto::kAtomicBytes;
      if (test == Test::Latency && !row_of(operation).fetches()) w.inline_below = 220;
      scenario.workload.push_back(w);
    }
  return scenario;
}
}  // namespace hca::testbench

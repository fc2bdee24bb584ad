// SPDX-License-Identifier: Apache-2.0
#include "testbench/scenario/scenario.h"

#include <algorithm>

#include "testbench/scenario/scenario_knobs.h"

namespace hca::testbench {
namespace {
bool is_digit(char c) { return c >= '0' && c <= '9'; }
}  // namespace
bool is_of_both_chips(std::string_view path) {
  return path.starts_with("hca.") || path.starts_with("pcie.") || path.starts_with("host.");
}
bool is_of_one_chip(std::string_view path) {
  const std::string_view group = path.substr(0, path.find('.'));
  return !group.starts_with("wire") && !group.empty() && is_digit(group.back());
}
namespace {
// "port" of "port.latency" and of "hca0.port.latency".
std::string_view group_in(std::string_view path) {
  const auto dot = path.find('.');
  const std::string_view rest =
      path.starts_with("hca") ? path.substr(std::min(dot, path.size() - 1) + 1) : path;
  return rest.substr(0, rest.find('.'));
}
// "port1" of "port".
bool is_one_of(std::string_view group, std::string_view all) {
  return group.size() > all.size() && group.starts_with(all) &&
         std::ranges::all_of(group.substr(all.size()), is_digit);
}
}  // namespace
bool covers(std::string_view path, std::string_view one) {
  constexpr std::string_view kNumbered[] = {"hca", "pcie", "host", "port", "wire"};
  for (;;) {
    const auto end = path.find('.'), end_of_one = one.find('.');
    const std::string_view group = path.substr(0, end), other = one.substr(0, end_of_one);
    const bool numbered =
        is_one_of(other, group) && std::ranges::find(kNumbered, group) != std::end(kNumbered);
    if ((end == path.npos) != (end_of_one == one.npos) || (group != other && !numbered))
      return false;
    if (end == path.npos) return true;
    path.remove_prefix(end + 1);
    one.remove_prefix(end_of_one + 1);
  }
}
bool is_of_both_ports(std::string_view path) {
  return group_in(path) == "port" || group_in(path) == "wire";
}
bool is_of_one_port(std::string_view path) {
  return is_one_of(group_in(path), "port") || is_one_of(group_in(path), "wire");
}

KnobTable knobs_of(Scenario& scenario) {
  KnobTable table;
  const auto add_node = [&](NodeConfig& node, const std::string& which) {
    const std::string hca = "hca" + which + ".";
    blocks::for_each_block_config(node.hca, [&]<class Config>(Config& config) {
      table.add(hca + std::string(engine::Knobs<Config>::block), config);
    });
    for (unsigned port = 0; port < blocks::kMaxPorts; ++port)
      table.add(hca + "port" + std::to_string(port + 1), node.hca.port[port]);
    table.add("pcie" + which, node.pcie);
    table.add("host" + which, node.host);
  };
  // For all nodes, then for each.
  for (NodeConfig& node : scenario.nodes) add_node(node, "");
  for (std::size_t i = 0; i < scenario.nodes.size(); ++i)
    add_node(scenario.nodes[i], std::to_string(i));
  for (Cable& cable : scenario.cables) table.add("wire", cable.wire);
  for (std::size_t i = 0; i < scenario.cables.size(); ++i)
    table.add("wire" + std::to_string(i + 1), scenario.cables[i].wire);
  table.add("connection", scenario.connection);
  table.add("measure", scenario.measure);
  table.add("verbs", scenario.verbs);
  table.add("run", scenario.run);
  return table;
}

bool Scenario::waits_for_events() const {
  return std::ranges::any_of(workload,
                             [&](const WorkloadConfig& w) { return waits_for_events(w); });
}

bool Scenario::waits_for_events(const WorkloadConfig& w) const {
  const bool hosts = std::ranges::any_of(
      nodes, [](const NodeConfig& node) { return node.host.wait == HostWait::Event; });
  return w.wait == WaitKind::Event || (w.wait == WaitKind::Host && hosts);
}

std::vector<Cable> cables_of_pair() {
  std::vector<Cable> cables;
  for (unsigned port = 0; port < blocks::kMaxPorts; ++port) cables.push_back({ends_in_pair(port)});
  return cables;
}

unsigned Scenario::ports() const {
  unsigned most = 0;
  for (const NodeConfig& node : nodes) most = std::max(most, node.hca.core.ports);
  return most;
}

bool Scenario::has(const NodePort& at) const {
  return at.node < nodes.size() && at.port < nodes[at.node].hca.core.ports;
}

std::vector<Cable> Scenario::laid_cables() const {
  std::vector<Cable> laid;
  for (const Cable& cable : cables)
    if (is_laid(cable)) laid.push_back(cable);
  return laid;
}

static tlm_::FaultRule rule_of(const FaultConfig& f, unsigned end, u32 number) {
  tlm_::FaultRule rule{.action = f.action,
                       .direction = u8(end),
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

std::vector<tlm_::FaultRule> rules_of(const FaultConfig& f, const Ends& cable, u32 number) {
  std::vector<tlm_::FaultRule> rules;
  for (unsigned end = 0; end < kEnds; ++end)
    if (f.from == cable[end].node && (!f.port || f.port == cable[end].port + 1))
      rules.push_back(rule_of(f, end, number));
  return rules;
}

std::vector<tlm_::FaultRule> Scenario::fault_rules(const Ends& cable) const {
  std::vector<tlm_::FaultRule> all;
  for (u32 number = 0; number < faults.size(); ++number)
    for (const tlm_::FaultRule& rule : rules_of(faults[number], cable, number)) all.push_back(rule);
  return all;
}

const GivenKey* Scenario::find_given(std::string_view path) const {
  const auto found = std::ranges::find(given, path, &GivenKey::path);
  return found == given.end() ? nullptr : &*found;
}

// The knobs of a mix have the order and the names of the operations.
static_assert(engine::knob_names<MixConfig>() == kOperationWords);

std::vector<std::pair<Operation, u32>> WorkloadConfig::weights() const {
  std::vector<std::pair<Operation, u32>> all;
  std::size_t which = 0;
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
      w.operation = operation;
      w.test = test;
      if (const u32 exact = row_of(operation).work().exact_bytes) w.from = w.to = exact;
      if (test == Test::Latency && !row_of(operation).fetches()) w.inline_below = 220;
      scenario.workload.push_back(w);
    }
  return scenario;
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The lists `faults` and `fail` of a server that runs.
#include <algorithm>
#include <cerrno>

#include "testbench/programs/server/fault_messages.h"
#include "testbench/programs/server/server.h"
#include "testbench/scenario/scenario_knobs.h"

namespace hca::attach {
namespace {
constexpr std::size_t kMostFaults = 10'000;

// The values that a program has sent may be arbitrary.
template <class Config>
bool is_in_range(const Config& config) {
  bool good = true;
  engine::for_each_knob(config, [&](const auto& knob) {
    good &= knob.value() >= knob.info.min && knob.value() <= knob.info.max;
  });
  return good;
}
}  // namespace

void Server::add_to_wires(const testbench::FaultConfig& fault, u32 number) {
  for (unsigned wire = 0; wire < testbed_.wires(); ++wire)
    for (const auto& rule : testbench::rules_of(fault, testbed_.ends_of_wire(wire), number))
      testbed_.wire(wire).add_fault(rule);
}

std::vector<EntryUse> Server::uses_of_faults() {
  std::vector<EntryUse> uses(faults_.size());
  for (unsigned wire = 0; wire < testbed_.wires(); ++wire)
    for (const tlm_::FaultUse& u : testbed_.wire(wire).faults().uses()) {
      uses[u.number].seen += u.matches;
      uses[u.number].done += u.done;
    }
  return uses;
}

std::vector<EntryUse> Server::uses_of_fails() const {
  std::vector<EntryUse> uses = ended_uses_;
  uses.resize(fails_.size());
  for (const Connection& connection : connections_)
    if (connection.session) connection.session->failures().add_uses(uses);
  return uses;
}

Reply Server::query_faults(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  FaultReport report;
  report.faults = u32(faults_.size());
  report.fails = u32(fails_.size());
  report.ports = testbed_.ports();
  if (request.object < faults_.size()) {
    report.fault = faults_[request.object];
    const EntryUse use = uses_of_faults()[request.object];
    report.seen = use.seen;
    report.done = use.done;
  } else if (const std::size_t place = request.object - faults_.size(); place < fails_.size()) {
    report.fail = fails_[place];
    const EntryUse use = uses_of_fails()[place];
    report.seen = use.seen, report.done = use.done;
  }
  Reply reply;
  put(reply.body, report);
  return reply;
}

Reply Server::clear_faults(Connection&, const Request&, Descriptors&, std::vector<int>&) {
  testbed_.meet();
  for (unsigned wire = 0; wire < testbed_.wires(); ++wire) testbed_.wire(wire).clear_faults();
  faults_.clear();
  fails_.clear();
  ended_uses_.clear();
  set_failures();
  return {};
}

Reply Server::add_fault(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  const auto fault = get<testbench::FaultConfig>(request.body);
  if (!is_in_range(fault) || fault.port > testbed_.ports()) return error_reply(EINVAL);
  if (faults_.size() >= kMostFaults) return error_reply(ENOSPC);
  add_to_wires(fault, u32(faults_.size()));
  faults_.push_back(fault);
  return {};
}

Reply Server::add_fail(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  const auto fail = get<FailConfig>(request.body);
  if (!is_in_range(fail) || !fail_mistake(fail).empty()) return error_reply(EINVAL);
  if (fails_.size() >= kMostFails) return error_reply(ENOSPC);
  fails_.push_back(fail);
  ended_uses_.resize(fails_.size());
  set_failures();
  return {};
}

void Server::set_failures() {
  for (Connection& connection : connections_)
    if (connection.session) connection.session->set_failures(fails_);
}
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
// The lists `faults` and `fail` of a server that runs.
#include <algorithm>
#include <cerrno>

#include "testbench/attach/fault_messages.h"
#include "testbench/attach/server.h"
#include "testbench/scenario_knobs.h"

namespace hca::attach {
namespace {
constexpr std::size_t kMostFaults = 10'000;

// What a program has sent may be anything.
template <class Config>
bool is_in_range(const Config& config) {
  bool good = true;
  engine::for_each_knob(config, [&](const auto& knob) {
    good &= knob.value() >= knob.info.min && knob.value() <= knob.info.max;
  });
  return good;
}
Reply reply_of(int error) {
  Reply reply;
  reply.error = error;
  return reply;
}
}  // namespace

void Server::add_to_wires(const testbench::FaultConfig& fault, u32 number) {
  for (unsigned port = 0; port < testbed_.ports(); ++port)
    if (!fault.port || fault.port == port + 1)
      testbed_.wire(port).add_fault(testbench::rule_of(fault, number));
}

FailUse Server::use_of_fault(u32 number) {
  FailUse use;
  for (unsigned port = 0; port < testbed_.ports(); ++port)
    for (const tlm_::FaultUse& u : testbed_.wire(port).faults().uses())
      if (u.number == number) use.seen += u.matches, use.done += u.done;
  return use;
}

std::vector<FailUse> Server::uses_of_fails() const {
  std::vector<FailUse> uses = ended_uses_;
  uses.resize(fails_.size());
  for (const Connection& connection : connections_)
    if (connection.session) connection.session->failures().add_uses(uses);
  return uses;
}

Reply Server::query_faults(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  FaultReport report;
  report.faults = u32(faults_.size()), report.fails = u32(fails_.size());
  report.ports = testbed_.ports();
  if (request.object < faults_.size()) {
    report.fault = faults_[request.object];
    const FailUse use = use_of_fault(request.object);
    report.seen = use.seen, report.done = use.done;
  } else if (const std::size_t place = request.object - faults_.size(); place < fails_.size()) {
    report.fail = fails_[place];
    const FailUse use = uses_of_fails()[place];
    report.seen = use.seen, report.done = use.done;
  }
  Reply reply;
  put(reply.body, report);
  return reply;
}

Reply Server::clear_faults(Connection&, const Request&, Descriptors&, std::vector<int>&) {
  testbed_.meet();
  for (unsigned port = 0; port < testbed_.ports(); ++port) testbed_.wire(port).clear_faults();
  faults_.clear(), fails_.clear(), ended_uses_.clear();
  set_failures();
  return {};
}

Reply Server::add_fault(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  const auto fault = get<testbench::FaultConfig>(request.body);
  if (!is_in_range(fault) || fault.port > testbed_.ports()) return reply_of(EINVAL);
  if (faults_.size() >= kMostFaults) return reply_of(ENOSPC);
  add_to_wires(fault, u32(faults_.size()));
  faults_.push_back(fault);
  return {};
}

Reply Server::add_fail(Connection&, const Request& request, Descriptors&, std::vector<int>&) {
  const auto fail = get<FailConfig>(request.body);
  if (!is_in_range(fail) || !fail_mistake(fail).empty()) return reply_of(EINVAL);
  if (fails_.size() >= kMostFails) return reply_of(ENOSPC);
  fails_.push_back(fail), ended_uses_.resize(fails_.size());
  set_failures();
  return {};
}

void Server::set_failures() {
  for (Connection& connection : connections_)
    if (connection.session) connection.session->set_failures(fails_);
}
}  // namespace hca::attach

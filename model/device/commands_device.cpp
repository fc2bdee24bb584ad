// SPDX-License-Identifier: Apache-2.0
// Device, ports and protection domains.
#include <utility>

#include "model/device/command_call.h"
#include "model/proto/interface/context_memory.h"

namespace hca::device {
using namespace proto;

CommandStatus query_device(Call& c) {
  const ObjectLimits& l = c.contexts.limits;
  DeviceAttributes a{};
  a.ports = u8(c.contexts.ports.size());
  a.gid_entries = kGidEntries;
  a.pkey_entries = kPkeyEntries;
  a.max_qps = l.qps;
  a.max_cqs = l.cqs;
  a.max_eqs = l.eqs;
  a.max_regions = l.regions;
  a.max_pds = l.pds;
  a.max_vectors = l.vectors;
  a.max_srqs = l.srqs;
  a.max_log_queue_entries = kMaxLogQueueEntries;
  a.max_log_work_entries = kMaxLogWorkEntries;
  a.max_rd_atomic = kMaxRdAtomic;
  a.credits = c.contexts.options.credits;
  static_cast<Capabilities&>(a) = c.contexts.options;
  a.needs_context_memory = c.contexts.needs_context_memory;
  encode(a, c.body);
  return CommandStatus::Ok;
}

// From now on the device owns the contents of this memory.
CommandStatus set_context_memory(Call& c) {
  if (!c.contexts.needs_context_memory || !c.contexts.qps.empty() || !c.contexts.cqs.empty())
    return CommandStatus::BadState;
  const auto a = decode<ContextMemoryAttributes>(c.body);
  if (!a.address || a.address % kMaxContextBytes) return CommandStatus::BadValue;
  c.contexts.context_memory = a.address;
  return CommandStatus::Ok;
}

// ---- Ports
namespace {
PortAttributes* find_port(Call& c) {
  const u32 number = c.header.object;
  return number && number <= c.contexts.ports.size() ? &c.contexts.ports[number - 1] : nullptr;
}
}  // namespace

PortEvents change_cable(Contexts& contexts, u32 port, bool is_broken) {
  PortCable& cable = contexts.cables[port - 1];
  PortAttributes& attributes = contexts.ports[port - 1];
  cable.is_broken = is_broken;
  if (attributes.state == PortState::AsItIs) return 0;  // before its first SetPort
  PortAttributes changed = attributes;
  changed.state = is_broken ? PortState::Down : cable.asked;
  const PortEvents events = port_events(attributes, changed);
  attributes = changed;
  return events;
}

std::vector<u32> fail_device(Contexts& contexts) {
  std::vector<u32> failed;
  if (std::exchange(contexts.has_failed, true)) return failed;
  for (QpConfig& qp : contexts.qps) {
    if (!qp.allocated || qp.state == QpState::Reset || qp.state == QpState::Error) continue;
    qp.state = QpState::Error;
    failed.push_back(qp.qpn);
  }
  return failed;
}

namespace {
// Only a managed port has the states between Down and Active.
bool may_be(PortState state, bool is_managed) {
  const bool plain = state == PortState::Down || state == PortState::Active;
  return plain || (is_managed && (state == PortState::Init || state == PortState::Armed));
}
}  // namespace

CommandStatus set_port(Call& c) {
  PortAttributes* port = find_port(c);
  if (!port) return CommandStatus::BadObject;
  PortCable& cable = c.contexts.cables[c.header.object - 1];
  auto a = decode<PortAttributes>(c.body);
  if (a.state == PortState::AsItIs)
    a.state = cable.asked == PortState::AsItIs ? PortState::Active : cable.asked;
  if (!may_be(a.state, c.contexts.options.managed_ports)) return CommandStatus::BadValue;
  if (a.framing >= kFramingCount || !is_mtu(a.mtu) || a.vlan > kMaxVlan)
    return CommandStatus::BadValue;
  if (a.lid & path_bits_of(a)) return CommandStatus::BadValue;
  if (std::none_of(std::begin(a.pkeys), std::end(a.pkeys), pkey_is_valid))  // PKEY-9
    return CommandStatus::BadValue;
  cable.asked = a.state;
  if (cable.is_broken) a.state = PortState::Down;
  c.effect.port_events = port_events(*port, a);
  c.effect.port = c.header.object;
  *port = a;
  port->reregister = false;
  for (QpConfig& qp : c.contexts.qps)
    if (qp.allocated && qp.port == c.header.object) qp.pkey = a.pkeys[qp.pkey_index];  // G18.3
  for (QpConfig& qp : c.contexts.qps)
    if (qp.service == Service::Ud && qp.port == c.header.object) qp.path_mtu = a.mtu;
  return CommandStatus::Ok;
}

CommandStatus query_port(Call& c) {
  const PortAttributes* port = find_port(c);
  if (!port) return CommandStatus::BadObject;
  encode(*port, c.body);
  return CommandStatus::Ok;
}

CommandStatus query_drops(Call& c) {
  if (!find_port(c)) return CommandStatus::BadObject;
  encode(c.contexts.drops[c.header.object - 1], c.body);
  return CommandStatus::Ok;
}

CommandStatus query_transport(Call& c) {
  if (!find_port(c)) return CommandStatus::BadObject;
  encode(c.contexts.transport[c.header.object - 1], c.body);
  return CommandStatus::Ok;
}

// ---- Protection domains
CommandStatus alloc_pd(Call& c) {
  const u32 number = c.header.object;
  if (number >= c.contexts.limits.pds) return CommandStatus::NoResources;
  if (!number || c.contexts.find_pd(number)) return CommandStatus::BadObject;
  at(c.contexts.pds, number) = {.allocated = true};
  return CommandStatus::Ok;
}

CommandStatus query_pd(Call& c) {
  const Pd* pd = c.contexts.find_pd(c.header.object);
  if (!pd) return CommandStatus::BadObject;
  encode(PdAttributes{pd->uses}, c.body);
  return CommandStatus::Ok;
}

CommandStatus dealloc_pd(Call& c) {
  Pd* pd = c.contexts.find_pd(c.header.object);
  if (!pd) return CommandStatus::BadObject;
  if (pd->uses) return CommandStatus::Busy;
  *pd = {};
  return CommandStatus::Ok;
}
}  // namespace hca::device

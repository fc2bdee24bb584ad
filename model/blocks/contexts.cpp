// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/contexts.h"

#include <array>
#include <new>

namespace hca::blocks {
using namespace proto;

namespace {
struct Call {
  Contexts& contexts;
  CommandHeader& header;
  u8* body;
  CommandEffect& effect;
};

template <class T>
T& at(std::vector<T>& table, u32 index) {
  if (index >= table.size()) table.resize(std::max<std::size_t>(index + 1, table.size() * 2));
  return table[index];
}

CommandStatus set_port(Call& c) {
  const auto a = decode<PortAttributes>(c.body);
  if (a.framing >= kFramingCount || a.mtu < 256 || a.mtu > 4096) return CommandStatus::BadValue;
  c.contexts.port.attributes = a;
  c.contexts.port.pkeys[0] = a.pkey;
  return CommandStatus::Ok;
}

CommandStatus query_port(Call& c) {
  encode(c.contexts.port.attributes, c.body);
  return CommandStatus::Ok;
}

CommandStatus create_ring(Call& c, std::vector<EventRing>& rings, u32 limit) {
  const auto a = decode<QueueAttributes>(c.body);
  if (!c.header.object || c.header.object >= limit) return CommandStatus::NoResources;
  if (a.log_entries > 22) return CommandStatus::BadValue;
  EventRing& ring = at(rings, c.header.object);
  if (ring.allocated) return CommandStatus::BadObject;
  ring = {};
  ring.allocated = true, ring.address = a.address, ring.log_entries = a.log_entries,
  ring.eqn = a.eqn;
  return CommandStatus::Ok;
}
CommandStatus create_eq(Call& c) { return create_ring(c, c.contexts.eqs, c.contexts.limits.eqs); }
CommandStatus create_cq(Call& c) { return create_ring(c, c.contexts.cqs, c.contexts.limits.cqs); }

CommandStatus register_mr(Call& c) {
  const auto a = decode<MrAttributes>(c.body);
  const u32 index = key_index(a.key);
  if (index >= c.contexts.limits.regions) return CommandStatus::NoResources;
  if (a.start + a.bytes < a.start) return CommandStatus::BadValue;
  Region& region = at(c.contexts.regions, index);
  if (region.valid) return CommandStatus::BadObject;
  region = {a.start, a.bytes, a.physical, a.pd, a.key, a.access, true};
  return CommandStatus::Ok;
}

CommandStatus deregister_mr(Call& c) {
  const u32 index = key_index(c.header.object);
  if (index >= c.contexts.regions.size() || !c.contexts.regions[index].valid ||
      c.contexts.regions[index].key != c.header.object)
    return CommandStatus::BadObject;
  c.contexts.regions[index] = {};
  return CommandStatus::Ok;
}

bool ring_exists(const std::vector<EventRing>& rings, u32 number) {
  return number < rings.size() && rings[number].allocated;
}

CommandStatus create_qp(Call& c) {
  const auto a = decode<QpCreate>(c.body);
  Contexts& x = c.contexts;
  const u32 qpn = c.header.object;
  if (qpn >= x.limits.qps) return CommandStatus::NoResources;
  if (x.find_qp(qpn) || !ring_exists(x.cqs, a.send_cq) || !ring_exists(x.cqs, a.receive_cq))
    return CommandStatus::BadObject;
  if (Service(a.service) != Service::Rc || a.sq_log_entries > 15 || a.rq_log_entries > 15 ||
      a.sq_log_stride < 6 || a.sq_log_stride > 8 || a.rq_log_stride < 5 || a.rq_log_stride > 8)
    return CommandStatus::BadValue;
  QpConfig qp;
  qp.allocated = true, qp.signal_all = a.signal_all, qp.service = Service(a.service);
  qp.qpn = qpn, qp.pd = a.pd, qp.send_cq = a.send_cq, qp.receive_cq = a.receive_cq;
  qp.sq = {a.sq_address, a.sq_log_entries, a.sq_log_stride};
  qp.rq = {a.rq_address, a.rq_log_entries, a.rq_log_stride};
  at(x.qps, qpn) = qp;
  SendState& send = at(x.send, qpn);
  const u32 epoch =
      send.epoch;  // what was fetched for an earlier queue pair of this number stays stale
  send = {}, send.epoch = epoch;
  at(x.receive, qpn) = {};
  at(x.sent, qpn).assign(qp.sq.entries(), {});
  return CommandStatus::Ok;
}

CommandStatus modify_qp_command(Call& c) {
  const u32 qpn = c.header.object;
  if (!c.contexts.find_qp(qpn)) return CommandStatus::BadObject;
  const auto a = decode<QpAttributes>(c.body);
  const CommandStatus status = modify_qp(c.contexts.qps[qpn], c.contexts.send[qpn],
                                         c.contexts.receive[qpn], a, c.contexts.port);
  if (status != CommandStatus::Ok) return status;
  c.effect = {qpn, a.state == QpState::Error, a.state == QpState::Reset};
  return status;
}

CommandStatus query_qp(Call& c) {
  const QpConfig* qp = c.contexts.find_qp(c.header.object);
  if (!qp) return CommandStatus::BadObject;
  const SendState& s = c.contexts.send[qp->qpn];
  const ReceiveState& r = c.contexts.receive[qp->qpn];
  QpAttributes a{};
  a.state = qp->state, a.port = qp->port, a.access = qp->access, a.pkey_index = qp->pkey_index;
  a.path_mtu = qp->path_mtu, a.dest_qpn = qp->dest_qpn;
  a.rq_psn = r.epsn, a.sq_psn = s.next_psn;
  a.max_rd_atomic = qp->max_rd_atomic, a.max_dest_rd_atomic = qp->max_dest_rd_atomic;
  a.min_rnr_timer = qp->min_rnr_timer, a.timeout = qp->timeout;
  a.retry_count = qp->retry_count, a.rnr_retry = qp->rnr_retry;
  a.sq_posted = s.started, a.sq_completed = s.completed;
  a.rq_posted = r.rq_posted, a.rq_consumed = r.rq_consumed;
  a.unacked_psn = s.unacked_psn, a.msn = r.msn;
  encode(a, c.body);
  return CommandStatus::Ok;
}

CommandStatus destroy_qp(Call& c) {
  if (!c.contexts.find_qp(c.header.object)) return CommandStatus::BadObject;
  c.contexts.qps[c.header.object] = {};
  c.effect = {c.header.object, false, true};
  return CommandStatus::Ok;
}

struct CommandRow {
  CommandOpcode opcode;
  CommandStatus (*run)(Call&);
};
constexpr std::array kCommands{
    CommandRow{CommandOpcode::SetPort, set_port},
    CommandRow{CommandOpcode::QueryPort, query_port},
    CommandRow{CommandOpcode::CreateEq, create_eq},
    CommandRow{CommandOpcode::CreateCq, create_cq},
    CommandRow{CommandOpcode::RegisterMr, register_mr},
    CommandRow{CommandOpcode::DeregisterMr, deregister_mr},
    CommandRow{CommandOpcode::CreateQp, create_qp},
    CommandRow{CommandOpcode::ModifyQp, modify_qp_command},
    CommandRow{CommandOpcode::QueryQp, query_qp},
    CommandRow{CommandOpcode::DestroyQp, destroy_qp},
};
}  // namespace

CommandEffect execute_command(Contexts& contexts, u8* block) {
  CommandEffect effect;
  auto header = decode<CommandHeader>(block);
  Call call{contexts, header, block + kCommandHeaderBytes, effect};
  header.status = CommandStatus::BadOpcode;
  for (const CommandRow& row : kCommands)
    if (row.opcode == header.opcode) header.status = row.run(call);
  header.done = true;
  encode(header, block);
  return effect;
}
}  // namespace hca::blocks

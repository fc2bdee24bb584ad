// SPDX-License-Identifier: Apache-2.0
// Queue pairs.
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

namespace {
bool values_ok(const QpCreate& a, const Contexts& x) {
  return a.service < 8 && has(x.options, capability_of(Service(a.service))) &&
         a.sq_log_entries <= kMaxLogWorkEntries && a.rq_log_entries <= kMaxLogWorkEntries &&
         kSendStrides.include(a.sq_log_stride) && kReceiveStrides.include(a.rq_log_stride);
}

QpSide side_of(const QpCreate& a) {
  if (Service(a.service) != Service::Xrc) return QpSide::Both;
  return a.is_target ? QpSide::Target : QpSide::Initiator;
}
// G24.1: an initiator has only a PD and a send CQ, a target has only a domain.
bool has_what_its_side_has(const QpCreate& a) {
  if (Service(a.service) == Service::Rd && a.srqn) return false;  // T10-20
  switch (side_of(a)) {
    case QpSide::Both:
      return !a.is_target && !a.xrcd;
    case QpSide::Initiator:
      return !a.receive_cq && !a.srqn && !a.xrcd;
    default:
      return !a.pd && !a.send_cq && !a.receive_cq && !a.srqn;
  }
}
bool objects_exist(const QpCreate& a, Contexts& x) {
  const QpSide side = side_of(a);
  if (side == QpSide::Target) return x.find_xrc_domain(a.xrcd);
  if (!x.find_pd(a.pd) || !x.find_cq(a.send_cq)) return false;
  return side == QpSide::Initiator || (x.find_cq(a.receive_cq) && (!a.srqn || x.find_srq(a.srqn)));
}
// Calls fn(uses) for each object that a queue pair uses.
template <class Fn>
void for_each_used(Contexts& x, const QpConfig& qp, const Fn& fn) {
  if (has_requester(qp)) {
    fn(x.pds[qp.pd].uses);
    fn(x.cqs[qp.send_cq].uses);
  }
  if (qp.side == QpSide::Both) fn(x.cqs[qp.receive_cq].uses);
  if (qp.srqn) fn(x.srqs[qp.srqn].uses);
  if (qp.xrcd) fn(x.xrc_domains[qp.xrcd].uses);
  if (qp.rdd) fn(x.rd_domains[qp.rdd].uses);
}
}  // namespace

CommandStatus create_qp(Call& c) {
  const auto a = decode<QpCreate>(c.body);
  Contexts& x = c.contexts;
  const u32 qpn = c.header.object;
  if (qpn >= x.limits.qps) return CommandStatus::NoResources;
  if (x.find_qp(qpn) || !objects_exist(a, x)) return CommandStatus::BadObject;
  const bool manages = Service(a.service) == Service::Ud;
  if (!values_ok(a, x) || !has_what_its_side_has(a)) return CommandStatus::BadValue;
  if (qpn < x.limits.first_qp && !manages) return CommandStatus::BadValue;
  QpConfig qp;
  qp.allocated = true;
  qp.signal_all = a.signal_all;
  qp.service = Service(a.service);
  qp.reliable = is_reliable(qp.service);
  qp.side = side_of(a);
  qp.privileged = a.privileged;
  qp.blocks_self = a.blocks_self;
  qp.options = x.options;
  qp.qpn = qpn;
  qp.pd = a.pd;
  qp.send_cq = a.send_cq;
  qp.receive_cq = a.receive_cq;
  qp.sq = {a.sq_address, a.sq_log_entries, a.sq_log_stride};
  qp.rq = {a.rq_address, a.rq_log_entries, a.rq_log_stride};
  qp.srqn = a.srqn;
  qp.xrcd = a.xrcd;
  if (qp.srqn) qp.rq = x.srqs[qp.srqn].wqes;
  if (qp.xrcd) qp.pd = x.xrc_domains[qp.xrcd].pd;  // G24.3
  if (uses_srq(qp)) qp.options.credits = false;    // G6.1, G24.4
  at(x.qps, qpn) = qp;
  at(x.given, qpn) = {};
  at(x.qp_contexts, qpn) = a.context;
  const Connection connection = x.connection_of(qpn);
  SendState& send = x.send.make(connection);
  // WQEs fetched for an earlier queue pair of this number stay stale.
  const u32 epoch = send.epoch;
  send = {};
  send.epoch = epoch;
  x.receive.make(connection) = {};
  x.alternates.make(connection) = {};
  x.sent.make(connection).assign(qp.sq.entries(), {});
  at(x.bound_windows, qpn) = 0;
  at(x.sends_posted, qpn) = 0;
  for_each_used(x, qp, [](u32& uses) { ++uses; });
  return CommandStatus::Ok;
}

CommandStatus modify_qp(Call& c) {
  const u32 qpn = c.header.object;
  Contexts& x = c.contexts;
  if (!x.find_qp(qpn)) return CommandStatus::BadObject;
  const auto a = decode<QpAttributes>(c.body);
  QpConfig& qp = x.qps[qpn];
  const QpState from = qp.state;
  if (qp.srqn && a.mask & kQpPort && a.port != x.srqs[qp.srqn].port) return CommandStatus::BadValue;
  if (qp.service == Service::Rd && a.mask & kQpRdd && !x.find_rd_domain(a.rdd))
    return CommandStatus::BadObject;
  const u32 domain = qp.rdd;
  const CommandStatus status =
      proto::modify_qp(qp, x.given[qpn], x.alternate_of(qpn), x.send_of(qpn), x.receive_of(qpn), a,
                       x.ports, x.sends_posted[qpn]);
  if (status != CommandStatus::Ok) return status;
  change_rd_domain(x, domain, qp.rdd);
  c.effect.qpn = qpn;
  if (a.state == QpState::Reset) x.sends_posted[qpn] = 0;
  c.effect.flush = a.state == QpState::Error;
  c.effect.clear = c.effect.takes_away = a.state == QpState::Reset;
  c.effect.start = from == QpState::Rtr && a.state == QpState::Rts;
  c.effect.resume = from == QpState::Sqd && a.state == QpState::Rts;
  c.effect.drain = a.state == QpState::Sqd;
  c.effect.migrates = asks_to_migrate(qp, a);
  c.effect.recover = from == QpState::Sqe && a.state == QpState::Rts;
  return status;
}

CommandStatus query_qp(Call& c) {
  const QpConfig* qp = c.contexts.find_qp(c.header.object);
  if (!qp) return CommandStatus::BadObject;
  const u32 qpn = qp->qpn;
  const Contexts& x = c.contexts;
  encode(proto::query_qp(*qp, x.given[qpn], x.send_of(qpn), x.receive_of(qpn)), c.body);
  return CommandStatus::Ok;
}

CommandStatus query_qp_create(Call& c) {
  const QpConfig* qp = c.contexts.find_qp(c.header.object);
  if (!qp) return CommandStatus::BadObject;
  QpCreate a{};
  a.service = u8(qp->service);
  a.is_target = qp->side == QpSide::Target;
  a.pd = a.is_target ? 0 : qp->pd;
  a.xrcd = qp->xrcd;
  a.signal_all = qp->signal_all;
  a.privileged = qp->privileged;
  a.blocks_self = qp->blocks_self;
  a.send_cq = qp->send_cq;
  a.receive_cq = qp->receive_cq;
  a.sq_log_entries = qp->sq.log_entries;
  a.sq_log_stride = qp->sq.log_stride;
  a.rq_log_entries = qp->rq.log_entries;
  a.rq_log_stride = qp->rq.log_stride;
  a.sq_address = qp->sq.address;
  a.rq_address = qp->rq.address;
  a.srqn = qp->srqn;
  a.context = c.contexts.qp_contexts[qp->qpn];
  encode(a, c.body);
  return CommandStatus::Ok;
}

CommandStatus destroy_qp(Call& c) {
  Contexts& x = c.contexts;
  const QpConfig* qp = x.find_qp(c.header.object);
  if (!qp) return CommandStatus::BadObject;
  if (x.bound_windows[qp->qpn]) return CommandStatus::Busy;  // MW-11
  for (const MulticastMember& member : x.members)
    if (member.qpn == qp->qpn) return CommandStatus::Busy;
  for_each_used(x, *qp, [](u32& uses) { --uses; });
  x.qps[c.header.object] = {};
  c.effect.qpn = c.header.object;
  c.effect.clear = c.effect.takes_away = true;
  return CommandStatus::Ok;
}
}  // namespace hca::device

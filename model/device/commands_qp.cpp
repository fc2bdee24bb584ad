// SPDX-License-Identifier: Apache-2.0
// Queue pairs.
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

namespace {
bool values_ok(const QpCreate& a) {
  return a.service < 8 && includes(kExecuted, Service(a.service)) &&
         a.sq_log_entries <= kMaxLogWorkEntries && a.rq_log_entries <= kMaxLogWorkEntries &&
         kSendStrides.include(a.sq_log_stride) && kReceiveStrides.include(a.rq_log_stride);
}
}  // namespace

CommandStatus create_qp(Call& c) {
  const auto a = decode<QpCreate>(c.body);
  Contexts& x = c.contexts;
  const u32 qpn = c.header.object;
  if (qpn >= x.limits.qps) return CommandStatus::NoResources;
  EventRing *send_cq = x.find_cq(a.send_cq), *receive_cq = x.find_cq(a.receive_cq);
  Pd* pd = x.find_pd(a.pd);
  SharedQueue* srq = a.srqn ? x.find_srq(a.srqn) : nullptr;
  if (a.srqn && !srq) return CommandStatus::BadObject;
  if (x.find_qp(qpn) || !send_cq || !receive_cq || !pd) return CommandStatus::BadObject;
  const bool manages = Service(a.service) == Service::Ud;
  if (!values_ok(a) || (qpn < x.limits.first_qp && !manages)) return CommandStatus::BadValue;
  QpConfig qp;
  qp.allocated = true;
  qp.signal_all = a.signal_all;
  qp.service = Service(a.service);
  qp.reliable = is_reliable(qp.service);
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
  qp.srq_pd = srq ? srq->pd : 0;
  if (srq) {
    qp.rq = srq->wqes;
    ++srq->uses;
    qp.options.credits = false;  // G6.1
  }
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
  x.sent.make(connection).assign(qp.sq.entries(), {});
  at(x.bound_windows, qpn) = 0;
  at(x.sends_posted, qpn) = 0;
  ++send_cq->uses;
  ++receive_cq->uses;
  ++pd->uses;
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
  const CommandStatus status = proto::modify_qp(qp, x.given[qpn], x.send_of(qpn), x.receive_of(qpn),
                                                a, x.ports, x.sends_posted[qpn]);
  if (status != CommandStatus::Ok) return status;
  c.effect.qpn = qpn;
  if (a.state == QpState::Reset) x.sends_posted[qpn] = 0;
  c.effect.flush = a.state == QpState::Error;
  c.effect.clear = c.effect.takes_away = a.state == QpState::Reset;
  c.effect.start = from == QpState::Rtr && a.state == QpState::Rts;
  c.effect.resume = from == QpState::Sqd && a.state == QpState::Rts;
  c.effect.drain = a.state == QpState::Sqd;
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
  a.pd = qp->pd;
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
  --x.cqs[qp->send_cq].uses;
  --x.cqs[qp->receive_cq].uses;
  --x.pds[qp->pd].uses;
  if (qp->srqn) --x.srqs[qp->srqn].uses;
  x.qps[c.header.object] = {};
  c.effect.qpn = c.header.object;
  c.effect.clear = c.effect.takes_away = true;
  return CommandStatus::Ok;
}
}  // namespace hca::device

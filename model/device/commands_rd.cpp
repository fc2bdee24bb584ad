// SPDX-License-Identifier: Apache-2.0
// RD domains and EE contexts (G13).
#include "model/device/command_call.h"
#include "model/proto/transport/ee_context.h"

namespace hca::device {
using namespace proto;

CommandStatus alloc_rdd(Call& c) {
  Contexts& x = c.contexts;
  const u32 number = c.header.object;
  if (!has(x.options, Capability::Rd)) return CommandStatus::BadOpcode;
  if (number >= x.limits.rd_domains) return CommandStatus::NoResources;
  if (!number || x.find_rd_domain(number)) return CommandStatus::BadObject;
  at(x.rd_domains, number) = {true, 0};
  return CommandStatus::Ok;
}

CommandStatus query_rdd(Call& c) {
  const RdDomain* domain = c.contexts.find_rd_domain(c.header.object);
  if (!domain) return CommandStatus::BadObject;
  encode(RdDomainAttributes{domain->uses}, c.body);
  return CommandStatus::Ok;
}

CommandStatus dealloc_rdd(Call& c) {
  RdDomain* domain = c.contexts.find_rd_domain(c.header.object);
  if (!domain) return CommandStatus::BadObject;
  if (domain->uses) return CommandStatus::Busy;
  *domain = {};
  return CommandStatus::Ok;
}

CommandStatus create_eec(Call& c) {
  const auto a = decode<EecCreate>(c.body);
  Contexts& x = c.contexts;
  const u32 eecn = c.header.object;
  if (!has(x.options, Capability::Rd)) return CommandStatus::BadOpcode;
  if (eecn >= x.limits.ee_contexts) return CommandStatus::NoResources;
  if (x.find_ee_context(eecn)) return CommandStatus::BadObject;
  EeContext& made = at(x.ee_contexts, eecn);
  made = {};
  made.allocated = true;
  made.context = a.context;
  x.qps.make_ee(eecn);
  QpConfig& qp = x.qps[ee_number(eecn)] = {};
  qp.allocated = true;
  qp.service = Service::Rd;
  qp.side = QpSide::EeContext;
  qp.qpn = ee_number(eecn);
  qp.options = x.options;
  qp.options.credits = false;  // T4
  qp.options.recovery = Recovery::GoBackN;
  QpConfig& receiver = x.qps[receiver_number(qp.qpn)] = qp;
  receiver.qpn = receiver_number(qp.qpn);
  const Connection connection = x.connection_of(qp.qpn);
  x.send.make(connection) = {};
  x.receive.make(connection) = {};
  x.sent.make(connection).assign(1, {});  // G13.1
  return CommandStatus::Ok;
}

CommandStatus modify_eec(Call& c) {
  Contexts& x = c.contexts;
  const u32 eecn = c.header.object;
  EeContext* const context = x.find_ee_context(eecn);
  if (!context) return CommandStatus::BadObject;
  const auto a = decode<QpAttributes>(c.body);
  if (a.mask & kQpRdd && !x.find_rd_domain(a.rdd)) return CommandStatus::BadObject;
  QpConfig& qp = x.qps[ee_number(eecn)];
  const u32 domain = qp.rdd;
  ReceiveState& receive = x.receive_of(qp.qpn);
  const ReceiveState before = receive;
  AlternatePath none{};
  const CommandStatus status =
      proto::modify_qp(qp, context->given, none, x.send_of(qp.qpn), receive, a, x.ports);
  if (status != CommandStatus::Ok) return status;
  change_rd_domain(x, domain, qp.rdd);
  follow(x.qps[receiver_number(qp.qpn)], qp);
  c.effect.changed_eec = eecn;
  if (a.state != QpState::Error && a.state != QpState::Reset) return status;
  // The runner ends the message in progress.
  receive.message = before.message;
  receive.owner = before.owner;
  receive.held_wqe = before.held_wqe;
  c.effect.ended_eec = eecn;
  c.effect.ended_status = WcStatus::InvEecStateErr;
  return status;
}

CommandStatus query_eec(Call& c) {
  Contexts& x = c.contexts;
  const EeContext* const context = x.find_ee_context(c.header.object);
  if (!context) return CommandStatus::BadObject;
  const QpConfig& qp = x.qps[ee_number(c.header.object)];
  QpAttributes a = proto::query_qp(qp, context->given, x.send_of(qp.qpn), x.receive_of(qp.qpn));
  a.rq_posted = a.rq_consumed = 0;  // it has no receive queue: what it shows is of a queue pair
  encode(a, c.body);
  return CommandStatus::Ok;
}

CommandStatus destroy_eec(Call& c) {
  Contexts& x = c.contexts;
  EeContext* const context = x.find_ee_context(c.header.object);
  if (!context) return CommandStatus::BadObject;
  QpConfig& qp = x.qps[ee_number(c.header.object)];
  change_rd_domain(x, qp.rdd, 0);
  qp.rdd = 0;
  context->allocated = false;
  c.effect.ended_eec = c.header.object;
  c.effect.ended_status = WcStatus::InvEecnErr;
  return CommandStatus::Ok;
}
}  // namespace hca::device

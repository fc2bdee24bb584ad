// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/unreliable_messages.h"

#include <utility>

#include "model/proto/wire/datagram.h"

namespace hca::blocks {
using namespace proto;

bool UnreliableMessages::take_up(Packet* p, ResponderQueue& q) {
  p->parsed.bth.ack_req = false;  // SVC-7
  begin_message(*p, q);
  if (q.abandoned) {
    if (p->effect.takes_shared) end_shared(*p, q, WcStatus::RemAbortErr);
    abandon(p, q);
    return false;
  }
  if (counts_itself(*p)) p->effect.receive_wqe = q.next_wqe - q.wqe_open;
  return true;
}

void UnreliableMessages::begin_message(const Packet& p, ResponderQueue& q) {
  if (!begins_message(p.parsed.opcode->position)) return;
  q.abandoned = false;
  if (!counts_itself(p)) {
    if (q.wqe_open) end_shared(p, q, WcStatus::RemAbortErr);
    return;
  }
  q.next_wqe -= std::exchange(q.wqe_open, false);
}

bool UnreliableMessages::lacks_wqe(const Packet& p, const ResponderQueue& q) const {
  return counts_itself(p) && request::takes_receive_wqe(*p.parsed.opcode) &&
         q.next_wqe == p.effect.rq_posted;
}

void UnreliableMessages::complete(const Packet& p, const ResponderQueue& q, Cqe& cqe) {
  if (counts_itself(p)) receive_[connection_of(p.qpn)].rq_consumed = q.next_wqe;
  const QpConfig& qp = contexts_.qps[p.qpn];
  if (qp.service == Service::Ud)
    tell_datagram(cqe, p.parsed, p.effect, qp, contexts_.ports[port_of(qp)]);
}

void UnreliableMessages::abandon(Packet* p, ResponderQueue& q) {
  ++counters_.abandoned;
  if (const QpConfig& qp = contexts_.qps[p->qpn]; qp.service == Service::Ud)
    counts_.drop(qp.port, counter_without_place(p->verdict.cause));
  q.abandoned = true;
  if (counts_itself(*p))
    q.next_wqe -= std::exchange(q.wqe_open, false);
  else
    end_message(*p);
  PacketPool::give_back(p);
}

void UnreliableMessages::end_shared(const Packet& p, ResponderQueue& q, WcStatus status) {
  Outcome& outcome = outcomes_.retire(p);
  outcome.completes = true;
  outcome.completed.cqe.opcode = CqeOpcode::Receive;
  outcome.completed.cqe.status = status;
  if (std::exchange(q.wqe_open, false)) outcome.completed.cqe.wqe_index = u16(q.open_wqe);
}

void UnreliableMessages::end_broken(Packet* p, ResponderQueue& q) {
  ++counters_.abandoned;
  if (q.wqe_open) end_shared(*p, q, WcStatus::RemAbortErr);
  PacketPool::give_back(p);
}

// The rest of the message takes no WQE, if responder_check has not seen any of it.
void UnreliableMessages::end_message(const Packet& p) {
  ReceiveState& r = receive_[connection_of(p.qpn)];
  if (r.epsn == psn_add(p.psn, 1)) r.message = InMessage::None;
}
}  // namespace hca::blocks

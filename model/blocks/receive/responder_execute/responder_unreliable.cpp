// SPDX-License-Identifier: Apache-2.0
// Requests of unreliable services. A message may end at any packet without being complete, and some
// causes are found here, behind responder_check: so receive WQEs are counted here, by the messages
// that came to their end (G14.4).
#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/proto/wire/datagram.h"

namespace hca::blocks {
using namespace proto;

// A request of a service without answers; false: it ends here.
bool ResponderExecute::goes_on(Packet* p, Queue& q) {
  p->parsed.bth.ack_req = false;  // SVC-7
  begin_unreliable(*p, q);
  if (q.abandoned) {
    if (p->effect.takes_shared) end_shared(*p, q, WcStatus::RemAbortErr);
    return abandon(p, q), false;
  }
  if (counts_itself(*p)) {
    p->effect.receive_wqe = q.next_wqe - q.wqe_open;
    if (lacks_wqe(*p, q)) return refuse(p, kNoReceiveWqe), false;
  }
  if (p->parsed.has(Ext::Deth) && !p->effect.has_header)
    prepend_header(p->frame(), p->parsed, p->effect);
  return true;
}

// A packet that begins a message ends the one before, whose receive WQE it takes over (ERR-36).
void ResponderExecute::begin_unreliable(const Packet& p, Queue& q) {
  if (!begins_message(p.parsed.opcode->position)) return;
  q.abandoned = false;
  if (!counts_itself(p)) {
    if (q.wqe_open) end_shared(p, q, WcStatus::RemAbortErr);
    return;
  }
  q.next_wqe -= std::exchange(q.wqe_open, false);
}

// None was posted when it came.
bool ResponderExecute::lacks_wqe(const Packet& p, const Queue& q) {
  return request::takes_receive_wqe(*p.parsed.opcode) && q.next_wqe == p.effect.rq_posted;
}

void ResponderExecute::complete_unreliable(const Packet& p, const Queue& q, Cqe& cqe) {
  if (counts_itself(p)) receive_[connection_of(p.qpn)].rq_consumed = q.next_wqe;
  const QpConfig& qp = contexts_.qps[p.qpn];
  if (qp.service == Service::Ud)
    tell_datagram(cqe, p.parsed, p.effect, qp, contexts_.ports[port_of(qp)]);
}

// Class D1: the rest of the message has no effect.
void ResponderExecute::abandon(Packet* p, Queue& q) {
  ++counters.abandoned;
  if (const QpConfig& qp = contexts_.qps[p->qpn]; qp.service == Service::Ud)
    counts_.drop(qp.port, counter_without_place(p->verdict.cause));
  q.abandoned = true;
  if (counts_itself(*p))
    q.next_wqe -= std::exchange(q.wqe_open, false);
  else
    end_message(*p);
  PacketPool::give_back(p);
}
}  // namespace hca::blocks

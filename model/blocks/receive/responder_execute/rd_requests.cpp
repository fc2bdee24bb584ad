// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/rd_requests.h"

#include <utility>

#include "model/proto/transport/ee_context.h"

namespace hca::blocks {
using namespace proto;

bool RdRequests::take_up(Packet* p, ResponderQueue&) {
  if (p->refusals != receive_[connection_of(p->qpn)].refusals) {
    PacketPool::give_back(p);
    return false;
  }
  served_[p->qpn] = receiver_for(contexts_.qps[device::sender_number(p->qpn)], p->parsed,
                                 contexts_.find_qp(p->parsed.bth.dest_qp));
  served_[p->qpn].qpn = p->qpn;
  return true;
}

Outcome& RdRequests::retire(Packet* p, bool replies) {
  Outcome& outcome = outcomes_.retire(*p);
  outcome.replies = replies;
  outcome.completed.cqe.opcode = CqeOpcode::Receive;
  return outcome;
}

// The message in progress ends, and so does its receive WQE.
void RdRequests::complete_held(Outcome& outcome, ResponderQueue& q, WcStatus status) const {
  complete_to(outcome.completed, outcome.reply.qpn, q.open_source);
  outcome.completed.cqe.wqe_index = u16(q.open_wqe);
  outcome.completed.cqe.status = status;
  outcome.completed.cqe.src_qp = 0;
  outcome.completes = true;
}

void RdRequests::resync(Packet* p, ResponderQueue& q) {
  stage_.enter(*p, 0);
  Outcome& outcome = retire(p, p->parsed.bth.ack_req);
  if (std::exchange(q.wqe_open, false) && !p->keeps_wqe)
    complete_held(outcome, q, aborted_status());
  PacketPool::give_back(p);
}

void RdRequests::answer_refusal(Packet* p, ResponderQueue& q) {
  const RequestVerdict& v = p->verdict;
  if (is_refusal(v.action)) counts_.add(qp_of(*p), v.cause);
  Outcome& outcome = retire(p, true);
  if (v.action == RequestAction::NakAndEnd) {
    const WcStatus status = failure_of(v.cause).status;
    const bool held = std::exchange(q.wqe_open, false);
    const bool completes = completes_ended(qp_of(*p), p->parsed, v);
    if (held && !p->keeps_wqe) {
      complete_held(outcome, q, completes ? status : aborted_status());
    } else if (completes && failure_takes_receive_wqe(qp_of(*p), p->parsed, v)) {
      outcome.completes = true;
      outcome.completed.cqe.status = status;
      outcome.completed.cqe.src_qp = 0;
    }
  }
  PacketPool::give_back(p);
}

// The EE context expects the refused request again. Class B or F ends only its message, class A its
// queue pair.
void RdRequests::refuse(Packet* p, ResponderQueue& q, bool counted) {
  const RequestVerdict v = p->verdict;
  const QpConfig& qp = qp_of(*p);
  ReceiveState& r = receive_[connection_of(p->qpn)];
  ReceiveState& queue = receive_[connection_of(qp.served)];
  ++counters_.failed;
  counts_.add(qp, v.cause);
  p->effect.msn = psn_sub(p->effect.msn, counted);
  r.epsn = p->psn;
  r.msn = p->effect.msn;
  r.message = InMessage::None;
  r.nak_sent = true;
  r.reads_accepted -= p->parsed.opcode->traits().is_saved();
  ++r.refusals;
  const FailureRow failure = failure_of(v.cause);
  const bool held = std::exchange(q.wqe_open, false);
  const bool took = p->parsed.has(Ext::ImmDt) && v.cause == RequestCause::BadRkey;
  const bool is_a = v.action == RequestAction::NakAndFail;
  const bool completes = is_a || completes_ended(qp, p->parsed, v);
  Outcome& outcome = retire(p, true);
  if (v.cause == RequestCause::UnreadableReceiveWqe) put_back(queue, p->effect.receive_wqe);
  if (held && (completes || !put_back(queue, q.open_wqe)))
    complete_held(outcome, q, completes ? failure.status : aborted_status());
  else if (took && (completes || !put_back(queue, p->effect.receive_wqe)))
    outcome.completes = true, outcome.completed.cqe.status = failure.status;
  if (is_a) {
    outcome.fails = true;
    outcome.fault = {.qpn = qp.served,
                     .raise = !outcome.completes,
                     .event = failure.event,
                     .wqe_index = names_receive_wqe(v.cause) ? u16(p->effect.receive_wqe) : u16{0}};
  }
  PacketPool::give_back(p);
}
}  // namespace hca::blocks

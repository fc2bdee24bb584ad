// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/receive_flush.h"

#include <utility>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

void ReceiveFlush::begin(u32 qpn, ResponderQueue& q) {
  const bool shared = uses_srq(contexts_.qps[qpn]);
  if (shared && q.wqe_open) q.next_wqe = q.open_wqe + 1;  // the only WQE left to flush here
  q.posted = shared ? q.next_wqe : receive_[connection_of(qpn)].rq_posted;
  if (contexts_.qps[qpn].service == Service::Rd)
    q.next_wqe = receive_[connection_of(qpn)].rq_consumed;  // others have taken them
  add(qpn);
}

void ReceiveFlush::lose(const Packet& p, const ResponderQueue& q) {
  const bool blamed = p.verdict.action != RequestAction::Execute;  // the WQE after it
  lost_.push({p.qpn, p.qpn, q.life, p.effect.receive_wqe + blamed, p.receive_queue});
}

// The EE context, as responder, with the oldest receive WQE of a queue pair in use; 0: there is none.
u32 ReceiveFlush::oldest_received(u32 qpn) {
  u32 oldest = 0;
  for (u32 eecn = 0; eecn < contexts_.ee_contexts.size(); ++eecn) {
    const u32 receiver = device::receiver_number(device::ee_number(eecn));
    const ResponderQueue* const q = queues_.find(receiver);
    if (!q || receive_[connection_of(receiver)].owner != qpn) continue;
    if (!q->wqe_open && receive_[connection_of(receiver)].message == InMessage::None) continue;
    if (!oldest || s32(q->open_wqe - queues_[oldest].open_wqe) < 0) oldest = receiver;
  }
  return oldest;
}

// In the order of the receive WQEs (G20.2).
void ReceiveFlush::end_received(u32 qpn, bool flushes) {
  while (const u32 receiver = oldest_received(qpn)) {
    ResponderQueue& q = queues_[receiver];
    if (flushes)
      end_message(receiver, q, flush_status());
    else
      q.wqe_open = false, receive_[connection_of(receiver)].message = InMessage::None;
  }
}

void ReceiveFlush::end_message(u32 receiver, ResponderQueue& q, WcStatus status) {
  receive_[connection_of(receiver)].message = InMessage::None;
  if (!std::exchange(q.wqe_open, false)) return;
  const u32 owner = q.open_source.owner();
  lost_.push({receiver, owner, queues_[owner].life, q.open_wqe, q.open_source, status});
}

void ReceiveFlush::flush() {
  if (flush_lost()) return;
  while (!flushes_.empty()) {
    const u32 qpn = flushes_.front();
    ResponderQueue& q = queues_[qpn];
    if (!q.flushing || (q.next_wqe == q.posted && !q.wqe_open)) {
      if (!end(qpn, q)) return;
      flushes_.drop();
      continue;
    }
    if (q.first || !outputs_.completions_out->can_push()) return;
    if (std::exchange(q.wqe_open, false)) --q.next_wqe;  // the WQE of an unfinished message
    Completed c;
    complete_to(c, qpn, q.open_source);
    c.cqe.opcode = CqeOpcode::Receive;
    c.cqe.status = flush_status();
    c.cqe.wqe_index = u16(q.next_wqe++);
    outputs_.completions_out->push(c);
    return outputs_.completions_out->wake_when_free();
  }
}

// False: there is nothing to flush yet, or no room.
bool ReceiveFlush::flush_lost() {
  while (!lost_.empty()) {
    const ResponderQueue& q = queues_[lost_.front().qpn];
    const bool is_late = lost_.front().life != queues_[lost_.front().owner].life;
    if (!is_late && (q.first || !outputs_.completions_out->can_push())) return false;
    const Lost lost = lost_.pop();
    if (is_late) continue;
    Completed c;
    complete_to(c, lost.qpn, lost.queue);
    c.cqe.opcode = CqeOpcode::Receive;
    c.cqe.status = lost.status;
    c.cqe.wqe_index = u16(lost.wqe);
    outputs_.completions_out->push(c);
    outputs_.completions_out->wake_when_free();
    return true;
  }
  return false;
}

// True: all WQEs of the queue pair are flushed, or it was reset. False: not yet.
bool ReceiveFlush::end(u32 qpn, const ResponderQueue& q) {
  if (!q.flushing) return true;
  const QpConfig& qp = contexts_.qps[qpn];
  if (uses_srq(qp)) return !has_responder(qp) || tell_last(qpn);
  receive_[connection_of(qpn)].rq_consumed = q.next_wqe;
  return true;
}

// G20.4: all WQEs that the queue pair took have ended. False: not yet, or there is no room.
bool ReceiveFlush::tell_last(u32 qpn) {
  const ResponderQueue& q = queues_[qpn];
  ReceiveState& r = receive_[connection_of(qpn)];
  if (r.last_wqe_told) return true;
  if (q.taken != r.shared_taken || q.parked_head || q.first || !lost_.empty() ||
      !outputs_.completions_out->can_push())
    return false;
  r.last_wqe_told = true;
  Completed c;
  complete_to(c, qpn, q.open_source);
  c.event = EventType::QpLastWqeReached;
  outputs_.completions_out->push(c);
  return true;
}
}  // namespace hca::blocks

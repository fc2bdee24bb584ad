// SPDX-License-Identifier: Apache-2.0
// WQEs of shared receive queues in responder_execute (G23): responder_check took them, in the order
// of arrival over all queue pairs; each that is not used by a message ends here.
#include "model/blocks/receive/responder_execute/responder_execute.h"

namespace hca::blocks {
using namespace proto;

// A request will not be executed, its queue pair being in Error.
void ResponderExecute::lose(const Packet& p, const Queue& q) {
  const QpConfig& qp = contexts_.qps[p.qpn];
  const bool blamed = p.verdict.action != RequestAction::Execute;  // the WQE behind
  lost_.push({p.qpn, q.life, qp.receive_cq, p.effect.receive_wqe + blamed});
}

// The WQE of a message that is not delivered.
void ResponderExecute::end_shared(const Packet& p, Queue& q, WcStatus status) {
  Outcome& outcome = retire(p);
  outcome.completes = true;
  outcome.completed.cqe.opcode = CqeOpcode::Receive, outcome.completed.cqe.status = status;
  if (std::exchange(q.wqe_open, false)) outcome.completed.cqe.wqe_index = u16(q.open_wqe);
}

// A packet that continues no message: the one in progress is not delivered.
void ResponderExecute::end_broken(Packet* p, Queue& q) {
  ++counters.abandoned;
  if (q.wqe_open) end_shared(*p, q, WcStatus::RemAbortErr);
  PacketPool::give_back(p);
}

// The rest of the message takes no WQE, if responder_check has not seen any of it.
void ResponderExecute::end_message(const Packet& p) {
  ReceiveState& r = receive_[connection_of(p.qpn)];
  if (r.epsn == psn_add(p.psn, 1)) r.message = InMessage::None;
}

// Behind all completions of its queue pair that are on their way. False: nothing was to flush, not
// yet, or there is no room.
bool ResponderExecute::flush_lost() {
  while (!lost_.empty()) {
    const Queue& q = queues_[lost_.front().qpn];
    const bool is_late = lost_.front().life != q.life;
    if (!is_late && (q.first || !ports.completions_out->can_push())) return false;
    const Lost lost = lost_.pop();
    if (is_late) continue;
    Completed c{lost.cqn, {}};
    c.cqe.opcode = CqeOpcode::Receive, c.cqe.status = flush_status(), c.cqe.qpn = lost.qpn;
    c.cqe.wqe_index = u16(lost.wqe);
    ports.completions_out->push(c);
    return ports.completions_out->wake_when_free(), true;
  }
  return false;
}

// G20.4: all WQEs that the queue pair took have ended; false: not yet, or there is no room.
bool ResponderExecute::tell_last(u32 qpn) {
  const Queue& q = queues_[qpn];
  ReceiveState& r = receive_[connection_of(qpn)];
  if (r.last_wqe_told) return true;
  if (q.taken != r.shared_taken || q.parked_head || q.first || !lost_.empty() ||
      !ports.completions_out->can_push())
    return false;
  r.last_wqe_told = true;
  Completed c{contexts_.qps[qpn].receive_cq, {}, EventType::QpLastWqeReached};
  c.cqe.qpn = qpn;
  ports.completions_out->push(c);
  return true;
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
// Outcomes of requests: answers, completions and failures leave in the order of their queue pair.
#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/proto/memory/key_rules.h"
#include "model/proto/transport/reply_rules.h"

namespace hca::blocks {
using namespace proto;

// Makes the outcome of a request, the last of its queue pair; the caller says what it does.
Outcome& ResponderExecute::retire(const Packet& p) {
  const QpConfig& qp = contexts_.qps[p.qpn];
  Queue& q = queues_[p.qpn];
  Outcome* o = outcomes_.take();
  Pool<Outcome>* const home = o->home;
  *o = {};
  o->home = home;
  o->not_before = std::max(p.last, enters_);
  o->reply = {p.qpn, p.effect.ack_psn, p.effect.msn, answer_syndrome(p.verdict, p.effect, qp)};
  o->congested = p.effect.congested;
  o->consumed = p.effect.receive_wqe + 1;
  o->completed.cqn = qp.receive_cq;
  o->completed.cqe.qpn = p.qpn;
  o->completed.cqe.wqe_index = u16(p.effect.receive_wqe);
  ++in_flight_;
  (q.first ? q.last->next : q.first) = o;
  q.last = o;
  if (q.first == o || q.reading) list(p.qpn, q);
  return *o;
}

// Of an executed request, the last of its message or one that asks for an answer.
void ResponderExecute::answer_or_complete(const Packet& p, bool has_payload) {
  const OpcodeRow& row = *p.parsed.opcode;
  const bool last = p.effect.completes_message, completes = last && makes_receive_cqe(row);
  if (last && row.operation == Operation::Send) queues_[p.qpn].wqe_open = false;
  if (!p.parsed.bth.ack_req && !completes && !has_payload) return;
  Outcome& outcome = retire(p);
  outcome.replies = p.parsed.bth.ack_req, outcome.completes = completes,
  outcome.waits = has_payload;
  if (completes) complete(p, queues_[p.qpn], outcome);
  if (row.has(Ext::Ieth)) {
    ++queues_[p.qpn].invalidates;
    outcome.fault = {
        .qpn = p.qpn, .invalidate = p.parsed.ieth.rkey, .life = p.life, .fails = false};
  }
}

// The first outcome of a queue pair may be due.
void ResponderExecute::list(u32 qpn, Queue& q) {
  if (q.listed) return;
  q.listed = true;
  side_of(qpn).settling.push(qpn);
}

// One outcome of a port, its queue pairs in turn; true: it has left. A READ or ATOMIC only begins:
// it says itself when it is over.
bool ResponderExecute::settle(Side& side) {
  Ring<u32>& settling = side.settling;
  while (!settling.empty()) {
    const u32 qpn = settling.front();
    Queue& q = queues_[qpn];
    end_stopped(qpn, q);
    Outcome* const o = next_to_begin(q);
    const bool due = o && (!o->waits || q.ordered);
    if (due && now() < o->not_before) return wake_at(o->not_before), false;
    if (due && o->fault.invalidate) {
      if (!ports.faults_out->can_push()) return false;
      tell_invalidate(qpn, *o);
    }
    const bool leaves = due && !o->invalidates;
    if (leaves && o->kind == OutcomeKind::Plain && !emit(*o)) return false;
    settling.drop();
    q.listed = false;
    if (!leaves) continue;
    if (o->kind != OutcomeKind::Plain) {
      begin(qpn, q, *o);
      continue;
    }
    q.ordered -= o->waits;
    drop_first(qpn, q);
    return true;
  }
  return false;
}

// G10: the key of a SEND with Invalidate is examined when the data have been placed; a bad one is
// class J: no NAK, the receive WQE ends in error.
void ResponderExecute::examine_key(u32 qpn, Queue& q, Outcome& o) {
  const u32 key = *o.fault.invalidate;
  if (may_invalidate(protection_.find(key), key, accessor_of(contexts_.qps[qpn]))) return;
  ++counters.failed;
  counts_.add(contexts_.qps[qpn], RequestCause::BadInvalidate);
  o.replies = false;
  o.fails = q.failed = true;
  // It has been executed: what was judged behind it does not count.
  o.fault = {.qpn = qpn,
             .event = EventType::QpAccessErr,
             .refused = true,
             .psn = psn_add(o.reply.psn, 1),
             .msn = o.reply.msn};
  Cqe& cqe = o.completed.cqe;
  cqe.status = failure_of(RequestCause::BadInvalidate).status;
  cqe.with_immediate = cqe.with_invalidate = cqe.solicited = false;
  cqe.byte_len = cqe.immediate = 0;
}

// The key that a SEND with Invalidate names is taken away, and what comes after it is judged. The
// SEND completes when all accesses that were judged before have drained (MW-20).
void ResponderExecute::tell_invalidate(u32 qpn, Outcome& o) {
  Queue& q = queues_[qpn];
  examine_key(qpn, q, o);
  if (!o.fault.invalidate) return invalidated(qpn, q.life);
  ports.faults_out->push(o.fault);
  o.fault = {};
  o.invalidates = true;
}

void ResponderExecute::invalidated(u32 qpn, u32 life) {
  Queue& q = queues_[qpn];
  if (q.life != life) return;
  --q.invalidates;
  unpark_later(qpn, q);
  self.wake(now() + 1);
}

void ResponderExecute::end_invalidate(u32 qpn, u32 life) {
  Queue& q = queues_[qpn];
  if (q.life != life) return;
  q.first->invalidates = false;
  list(qpn, q);
  self.wake(now() + 1);
}

// False: a link has no room.
bool ResponderExecute::emit(const Outcome& o) {
  const bool faults = o.fails;
  ReplyLink* const replies = o.replies ? side_of(o.reply.qpn).replies_out : nullptr;
  if (replies && !replies->can_push()) return false;
  if (o.completes && !ports.completions_out->can_push()) return false;
  if (faults && !ports.faults_out->can_push()) return false;
  Queue& q = queues_[o.reply.qpn];
  q.congested |= o.congested;
  if (replies) {
    Reply& reply = replies->start();
    reply = o.reply;
    reply.becn = takes_becn(q.congested);
    note_told(q.told, o.reply.psn, o.reply.msn, o.reply.syndrome, o.consumed);
  }
  if (o.completes) ports.completions_out->push(o.completed);
  if (faults) ports.faults_out->push(o.fault);
  return true;
}

// In Error: READs that wait for nothing that they asked for are over.
void ResponderExecute::end_stopped(u32 qpn, Queue& q) {
  while (q.flushing && q.first && q.first->kind == OutcomeKind::Read && q.first->started &&
         q.first->answered == q.first->effect.packets)
    finish_first(qpn, q);
}

void ResponderExecute::drop_first(u32 qpn, Queue& q) {
  Outcome* const o = q.first;
  q.first = o->next;
  end_access(*o);
  Pool<Outcome>::give_back(o);
  if (in_flight_-- == config_.outcomes) wake_at(now() + 1);
  if (q.first)
    list(qpn, q);
  else
    offer_credits(qpn, q);
}

// Of a READ or ATOMIC.
void ResponderExecute::end_access(Outcome& o) {
  if (o.granted) accesses_.end_read(key_index(o.effect.rkey));
  if (o.pages) Pool<HeldRegion>::give_back(o.pages);
}

// Credits that the peer does not know of are told when no answer is on its way.
void ResponderExecute::offer_credits(u32 qpn, Queue& q) {
  if (q.tells || q.first || q.failed || !q.told.must_be_told_again(q.posted)) return;
  q.tells = true;
  side_of(qpn).tells.push(qpn);
}

// G6.6, C9-217: the newest ACK again, with its MSN and what is free as of then: no more is promised
// than there is, whatever has been taken since.
void ResponderExecute::tell_credits(Ring<u32>& tells) {
  while (!tells.empty()) {
    const u32 qpn = tells.front();
    Queue& q = queues_[qpn];
    if (!q.first && !q.failed && q.told.must_be_told_again(q.posted)) {
      ReplyLink& replies = *side_of(qpn).replies_out;
      if (!replies.can_push()) return;
      q.told.syndrome = ack_syndrome(credit_code(q.told.free(q.posted)));
      Reply reply{qpn, q.told.psn, q.told.msn, q.told.syndrome};
      reply.becn = takes_becn(q.congested);
      replies.push(reply);
      ++counters.credit_updates;
    }
    tells.drop();
    q.tells = false;
  }
}

// By a reset: nothing leaves any more.
void ResponderExecute::forget_outcomes(Queue& q) {
  q.reading = nullptr;
  while (q.first) {
    Outcome* const o = q.first;
    q.first = o->next;
    end_access(*o);
    Pool<Outcome>::give_back(o);
    --in_flight_;
  }
  self.wake(now() + 1);  // others may wait for its places
}
}  // namespace hca::blocks

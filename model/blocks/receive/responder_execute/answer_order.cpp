// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/answer_order.h"

#include "model/proto/memory/key_rules.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

// Returns the outcome that may begin: the first of its queue pair, or a new READ directly after one
// whose packets are all requested. READ data arrive in the order of the requests.
Outcome* AnswerOrder::next_to_begin(const ResponderQueue& q) {
  if (q.unread && !q.flushing) [[unlikely]]
    return nullptr;
  if (!q.first || !q.first->started) return q.first;
  if (q.flushing) return nullptr;
  if (!q.reading || q.reading->asked < q.reading->effect.packets) return nullptr;
  Outcome* const next = q.reading->next;
  return next && next->kind == OutcomeKind::Read && !next->repeats ? next : nullptr;
}

bool AnswerOrder::settle(unsigned port) {
  Ring<u32>& listed = outcomes_.listed(port);
  while (!listed.empty()) {
    const u32 qpn = listed.front();
    ResponderQueue& q = queues_[qpn];
    end_stopped(qpn, q);
    Outcome* const o = next_to_begin(q);
    const bool due = o && q.ordered >= o->waits;
    if (due && now() < o->not_before) {
      wake_at(o->not_before);
      return false;
    }
    if (due && o->fault.invalidate) {
      if (!outputs_.faults_out->can_push()) return false;
      tell_invalidate(qpn, *o);
    }
    const bool leaves = due && !o->invalidates;
    if (leaves && o->kind == OutcomeKind::Plain && !emit(*o)) return false;
    listed.drop();
    q.listed = false;
    if (!leaves) continue;
    if (o->kind != OutcomeKind::Plain) {
      begin(qpn, q, *o);
      continue;
    }
    q.ordered -= o->waits;
    outcomes_.drop_first(qpn, q);
    return true;
  }
  return false;
}

// Begins a READ or ATOMIC; in Error it is the first outcome and ends at once.
void AnswerOrder::begin(u32 qpn, ResponderQueue& q, Outcome& o) {
  if (q.flushing) return outcomes_.finish_first(qpn, q);
  o.started = true;
  q.congested |= o.congested;
  if (o.kind == OutcomeKind::Atomic) return atomics_.begin(qpn);
  reads_.begin(qpn, q, o);
}

// G10: the key of a SEND with Invalidate is examined when the data have been placed; a bad key is a
// class J error: no NAK, the receive WQE ends in error.
void AnswerOrder::examine_key(u32 qpn, ResponderQueue& q, Outcome& o) {
  const u32 key = *o.fault.invalidate;
  if (may_invalidate(protection_.find(key), key, accessor_of(qpn, o.completed.queue))) return;
  ++counters_.failed;
  counts_.add(contexts_.qps[qpn], RequestCause::BadInvalidate);
  o.replies = false;
  o.fails = q.failed = true;
  // The SEND has been executed; requests judged after it do not count.
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

// Invalidates the key that a SEND with Invalidate names; only then are the requests after it
// judged. The SEND completes when all accesses that were judged before have drained (MW-20).
void AnswerOrder::tell_invalidate(u32 qpn, Outcome& o) {
  ResponderQueue& q = queues_[qpn];
  examine_key(qpn, q, o);
  if (!o.fault.invalidate) return invalidated(qpn, q.life);
  outputs_.faults_out->push(o.fault);
  o.fault = {};
  o.invalidates = true;
}

void AnswerOrder::invalidated(u32 qpn, u32 life) {
  ResponderQueue& q = queues_[qpn];
  if (q.life != life) return;
  --q.invalidates;
  parked_.note_due(qpn, q);
  wake_at(now() + 1);
}

void AnswerOrder::end_invalidate(u32 qpn, u32 life) {
  ResponderQueue& q = queues_[qpn];
  if (q.life != life) return;
  q.first->invalidates = false;
  outcomes_.list(qpn, q);
  wake_at(now() + 1);
}

// False: a link has no room.
bool AnswerOrder::emit(const Outcome& o) {
  const bool faults = o.fails;
  const bool replies_now = o.replies && !queues_[o.reply.qpn].unread;
  ReplyLink* const replies = replies_now ? ports_.of(o.reply.qpn).replies_out : nullptr;
  if (replies && !replies->can_push()) return false;
  if (o.completes && !outputs_.completions_out->can_push()) return false;
  if (faults && !outputs_.faults_out->can_push()) return false;
  ResponderQueue& q = queues_[o.reply.qpn];
  q.congested |= o.congested;
  if (replies) {
    Reply& reply = replies->start();
    reply = o.reply;
    reply.becn = takes_becn(q.congested);
    note_told(q.told, o.reply.psn, o.reply.msn, o.reply.syndrome, o.consumed);
  }
  if (o.completes) outputs_.completions_out->push(o.completed);
  if (faults) outputs_.faults_out->push(o.fault);
  return true;
}

// In Error: ends READs whose requested data have all arrived.
void AnswerOrder::end_stopped(u32 qpn, ResponderQueue& q) {
  while (q.flushing && q.first && q.first->kind == OutcomeKind::Read && q.first->started &&
         q.first->answered == q.first->effect.packets)
    outcomes_.finish_first(qpn, q);
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/work_ends.h"

#include <utility>

#include "model/blocks/send/requester/ee_service.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/qp_transitions.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

void WorkEnds::queue(u32 qpn, SendQueue& q) {
  if (q.completing) return;
  q.completing = true;
  completing_.push(qpn);
  pending_ |= kOwn;
}

void WorkEnds::fail(u32 qpn, u32 index, WcStatus status) {
  if (device::is_ee(qpn)) [[unlikely]]
    return ee_service->fail(qpn, status);
  SendQueue& q = queues_[qpn];
  if (q.failing) return;
  state_of(qpn).notify_drained = SqdNotify::None;
  q.failing = true;
  q.fail_index = index;
  q.fail_status = status;
  ++state_of(qpn).epoch;
  turns_.drop(q);
  timers_.clear(qpn);
  if (state_of(qpn).completed != index) timers_.restart(qpn);  // the WQEs before it need their ACK
  queue(qpn, q);
  wake_at(now() + 1);  // a WQE fails after the completions of this cycle
}

// Class C (C9-216): no WQE is blamed, and none waits for its answer any more.
void WorkEnds::fail_unread(u32 qpn) {
  outbox_.fault(
      {.qpn = qpn, .raise = true, .event = EventType::QpFatal, .part = EventPart::SendQueue});
  enter_error(qpn);
  wake_at(now() + 1);
}

// A work request that `command` refused fails when those before it are done (C9-209).
void WorkEnds::fail_refused(u32 qpn, SendQueue& q) {
  if (q.local_status == WcStatus::Success || state_of(qpn).completed != q.local_index) return;
  q.waits_local = false;
  fail(qpn, q.local_index, q.local_status);
}

// Completes acknowledged WQEs in order; queue pairs that have any take turns.
void WorkEnds::complete() {
  while (!completing_.empty()) {
    const u32 qpn = completing_.front();
    if (!outputs_.completions_out->can_push()) return;
    SendQueue& q = queues_[qpn];
    if (complete_one(qpn, q)) {
      if (completing_.size() > 1) completing_.push(completing_.pop());
      return outputs_.completions_out->wake_when_free();
    }
    completing_.pop();
    q.completing = false;
    const bool asks = contexts_.qps[qpn].service == Service::Rd;  // after work of its own
    if (std::exchange(q.waits_to_fail, false) || asks) order_.activate(qpn, q);
    if (const auto event = take_drained(contexts_.qps[qpn], state_of(qpn)))
      return push_drained(qpn, *event);
  }
}

// G20.1: after the CQEs of all work that was begun.
void WorkEnds::push_drained(u32 qpn, EventType event) {
  Completed& completed = outputs_.completions_out->start();
  completed.event = event;
  completed.cqn = contexts_.qps[qpn].send_cq;
  completed.cqe = {};
  completed.cqe.qpn = qpn;
  outputs_.completions_out->wake_when_free();
}

// True: a CQE was written and more may follow.
bool WorkEnds::complete_one(u32 qpn, SendQueue& q) {
  if (device::is_ee(qpn)) [[unlikely]]
    return ee_service->complete(qpn, q);
  SendState& s = state_of(qpn);
  while (s.completed != s.started) {
    const SentMessage& m = message_of(qpn, s.completed);
    if (psn_distance(m.end_psn(), s.unacked_psn) < 0) break;
    if (m.answer != Answer::Acknowledge && !m.placed) break;  // G30.4: its data come first
    const u32 index = s.completed++;
    if (!m.signaled) continue;
    push_completion(qpn, index, WcStatus::Success, &m);
    return true;
  }
  if (q.waits_local) fail_refused(qpn, q);
  if (!q.failing || q.fail_index != s.completed) return false;
  push_completion(qpn, s.completed, q.fail_status, nullptr);
  ++counters_.failed;
  if (s.started == s.completed) ++s.started;
  ++s.completed;
  q.failing = false;
  const QpConfig& qp = contexts_.qps[qpn];
  const bool sends_alone =
      state_of_failed_sends(qp.service, qp.options.rd_send_error) == QpState::Sqe;
  outbox_.fault({.qpn = qpn, .sends_alone = sends_alone});
  enter_error(qpn);
  wake_at(now() + 1);
  return true;
}

void WorkEnds::push_completion(u32 qpn, u32 index, WcStatus status, const SentMessage* message) {
  Completed& completed = outputs_.completions_out->start();
  completed.event = EventType::Completion;
  completed.cqn = contexts_.qps[qpn].send_cq;
  Cqe& cqe = completed.cqe = {};
  cqe.status = status;
  cqe.qpn = qpn;
  cqe.wqe_index = u16(index);
  if (message) {
    cqe.opcode = kWorkRows[std::size_t(message->opcode)].completion;
    cqe.byte_len = message->bytes;
  }
  probe_.event(now() + 1, Step::Completed, qpn, index);
}

// ---- Error
void WorkEnds::enter_error(u32 qpn) {
  errors_.push(qpn);
  pending_ |= kOwn;
}

void WorkEnds::enter_errors() {
  while (!errors_.empty()) {
    const u32 qpn = errors_.pop();
    SendQueue& q = queues_[qpn];
    if (q.in_error) continue;
    SendState& s = state_of(qpn);
    q.in_error = true;
    q.failing = q.waits_local = false;
    ++s.epoch;
    s.notify_drained = SqdNotify::None;
    timers_.clear(qpn);
    turns_.drop(q);
    if (contexts_.qps[qpn].service == Service::Rd) ee_service->leave(qpn, q);
    // Acknowledged WQEs complete first; the scheduler then sends the rest of the queue as turns to
    // flush.
    while (s.completed != s.started) {
      const SentMessage& m = message_of(qpn, s.completed);
      const bool undone = m.answer == Answer::Nothing && !m.placed;
      if (psn_distance(m.end_psn(), s.unacked_psn) < 0 || m.signaled || undone) break;
      ++s.completed;
    }
    outbox_.note({NoteKind::Flush, qpn, s.completed, s.epoch});
  }
}

// Flushes one WQE a cycle (G20.2); of the turn only the number of its WQEs matters.
void WorkEnds::flush() {
  while (!flushing_.empty()) {
    Turn* turn = flushing_.front();
    SendState& s = state_of(turn->qpn);
    const u32 end = turn->first + turn->count;
    if (turn->epoch != s.epoch || s.completed == end) {
      flushing_.pop();
      turns_.release(turn);
      continue;
    }
    if (queues_[turn->qpn].completing || !outputs_.completions_out->can_push()) return;
    push_completion(turn->qpn, s.completed, flush_status(), nullptr);
    if (s.started == s.completed) ++s.started;
    ++s.completed;
  }
}
}  // namespace hca::blocks

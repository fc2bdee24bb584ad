// SPDX-License-Identifier: Apache-2.0
// What comes back to the requester: acknowledgements, timers, errors; completion of work requests.
#include <algorithm>

#include "model/blocks/send/requester/requester.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/timeout.h"

namespace hca::blocks {
using namespace proto;

void Requester::acknowledge() {
  if (placing_.packet && (!ports.responses_out->can_push() || !place())) {
    if (placing_.packet) ports.responses_out->wake_when_free();
    return;
  }
  AckLink& link = acks_in.next();
  if (!link.can_pop() || (link.front().packet && !ports.responses_out->can_push())) return;
  const Acknowledgement a = link.pop();
  acks_in.pass_turn(link, now());
  const QpConfig* qp = contexts_.find_qp(a.qpn);
  const auto in_error = [&] { return lanes_[a.qpn].in_error; };
  if (!qp || !takes_responses(qp->state) || in_error()) {  // C9-215
    if (qp) counts_.drop(qp->port, &DropCounters::bad_qp_state);
    if (a.packet) PacketPool::give_back(a.packet);
    return;
  }
  if (a.packet) {
    take_response(a, *qp);
    if (placing_.packet) ports.responses_out->wake_when_free();
    return;
  }
  SendState& s = send_[connection_of(a.qpn)];
  const AckVerdict v = judge_ack(s, *qp, awaited(a.qpn), a.psn, a.syndrome, a.payload_bytes);
  if (v.action != AckAction::Drop) take_credits(s, a.msn, a.syndrome);
  act(a.qpn, v);
}

// G14.1.
void Requester::take_sent() {
  SentLink& link = sent_in.next();
  if (!link.can_pop()) return;
  const SentPacket sent = link.pop();
  sent_in.pass_turn(link, now());
  const QpConfig* qp = contexts_.find_qp(sent.qpn);
  Lane& lane = lanes_[sent.qpn];
  if (!qp || !sends(qp->state) || lane.in_error || sent.life != lane.life) return;
  SendState& s = send_[connection_of(sent.qpn)];
  if (psn_stand_in)
    step_by(sent.qpn, s, {.step = PsnStep::Acknowledge, .psn = psn_sub(sent.next_psn, 1)});
  else
    s.acknowledge(sent.next_psn);
  queue_completion(sent.qpn, lane);
  activate(sent.qpn, lane);  // it may have waited for its window
}

void Requester::expire() {
  Cycle again = kNever;
  const u32 qpn = timers_.due(now(), again);
  if (again != kNever) wake_at(std::max(again, now() + 1));
  if (qpn == Timers::kNone) return;
  SendState& s = send_[connection_of(qpn)];
  if (std::exchange(s.waits_rnr, false)) {
    end_rnr(lanes_[qpn]);
    return notes_.push({NoteKind::Resume, qpn, 0, 0});
  }
  ++counters.timeouts, counters.waits_timeout += timeout_of(qpn);
  counts_.timeout(contexts_.qps[qpn]);
  act(qpn, judge_timeout(s));
}

void Requester::act(u32 qpn, const AckVerdict& v) {
  if (v.action == AckAction::Drop) return;
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = send_[connection_of(qpn)];
  Lane& lane = lanes_[qpn];
  if (v.action == AckAction::Credits) return activate(qpn, lane);
  if (lane.in_error) return;
  const bool progress = v.psn != s.unacked_psn;
  if (v.implied) counts_.implied_nak(qp);
  const SendPsns before = static_cast<const SendPsns&>(s);
  apply(s, qp, v);
  if (psn_stand_in) [[unlikely]]
    answered_by(qpn, before, v);
  switch (v.action) {
    case AckAction::Resend:
      counters.sequence_naks += !v.by_timer && !v.implied, counters.implied_naks += v.implied;
      go_back(qpn, v.psn, NoteKind::Rewind);
      if (std::exchange(s.waits_rnr, false)) end_rnr(lane);
      break;
    case AckAction::Wait: {
      ++counters.rnr_naks;
      go_back(qpn, v.psn, NoteKind::Pause);
      s.waits_rnr = true, lane.rnr_since = now();
      const Cycle wait =
          engine::cycles_from_picoseconds(rnr_delay_ns(v.rnr_code) * 1000, clock_hz_);
      set_timer(qpn, now() + wait);
      break;
    }
    case AckAction::Fail:
      fail(qpn,
           wqe_of_psn(s.completed, s.started, v.psn,
                      [&](u32 i) { return sent_.message(connection_of(qpn), i); }),
           v.status);
      break;
    default:
      if (progress && !s.waits_rnr) restart_timer(qpn);
  }
  queue_completion(qpn, lane);
  activate(qpn, lane);
}

// What was fetched is stale, the scheduler fetches again from the WQE that holds `psn`.
void Requester::go_back(u32 qpn, u32 psn, NoteKind kind) {
  SendState& s = send_[connection_of(qpn)];
  s.go_back(psn);
  ++s.epoch;
  timers_.clear(qpn);
  drop_turns(qpn, lanes_[qpn]);
  const u32 index = wqe_of_psn(s.completed, s.started, psn,
                               [&](u32 i) { return sent_.message(connection_of(qpn), i); });
  notes_.push({kind, qpn, index, s.epoch});
}

void Requester::drop_turns(u32, Lane& lane) {
  while (lane.head) {
    Turn* turn = lane.head;
    lane.head = turn->next;
    release(turn);
  }
  lane.at = 0, lane.sending = false;
}

// The WQE `index` ends with `status` when all before it are done; then the queue pair enters Error.
void Requester::fail(u32 qpn, u32 index, WcStatus status) {
  Lane& lane = lanes_[qpn];
  if (lane.failing) return;
  send_[connection_of(qpn)].notify_drained = false;
  lane.failing = true, lane.fail_index = index, lane.fail_status = status;
  ++send_[connection_of(qpn)].epoch;
  drop_turns(qpn, lane);
  timers_.clear(qpn);
  if (send_[connection_of(qpn)].completed != index)
    restart_timer(qpn);  // the WQEs before it still need their ACK
  queue_completion(qpn, lane);
  wake_at(now() + 1);  // a WQE fails behind the completions of this cycle
}

// Class C (C9-216): no WQE is blamed, and none waits for its answer any more.
void Requester::fail_unread(u32 qpn) {
  faults_.push({.qpn = qpn, .raise = true, .event = EventType::QpFatal, .of_sends = true});
  ++for_command_;
  push_error(qpn);
  wake_at(now() + 1);
}

void Requester::restart_timer(u32 qpn) {
  const SendState& s = send_[connection_of(qpn)];
  const bool has_timer = ack_timeout_ns(contexts_.qps[qpn].timeout);
  if (!has_timer || !s.anything_unacked()) return timers_.clear(qpn);
  set_timer(qpn, now() + timeout_of(qpn));
}

void Requester::set_timer(u32 qpn, Cycle at) {
  if (const Cycle ask = timers_.set(qpn, at); ask != kNever) wake_at(ask);
}

Cycle Requester::timeout_of(u32 qpn) const {
  return engine::cycles_from_picoseconds(ack_timeout_ns(contexts_.qps[qpn].timeout) * 1000,
                                         clock_hz_);
}

void Requester::queue_completion(u32 qpn, Lane& lane) {
  if (lane.completing) return;
  lane.completing = true;
  completing_.push(qpn), pending_ |= kOwn;
}

// Completes acknowledged WQEs in order, of the queue pairs that have any in turn; at most one CQE a
// cycle.
void Requester::complete() {
  while (!completing_.empty()) {
    const u32 qpn = completing_.front();
    if (!ports.completions_out->can_push()) return;
    Lane& lane = lanes_[qpn];
    if (complete_one(qpn, lane)) {
      if (completing_.size() > 1) completing_.push(completing_.pop());
      return ports.completions_out->wake_when_free();
    }
    completing_.pop();
    lane.completing = false;
    if (std::exchange(lane.waits_to_fail, false)) activate(qpn, lane);
    if (send_[connection_of(qpn)].notify_drained &&
        take_drained(contexts_.qps[qpn], send_[connection_of(qpn)]))
      return push_drained(qpn);
  }
}

// G20.1: behind the CQEs of all that was begun.
void Requester::push_drained(u32 qpn) {
  Completed& completed = ports.completions_out->start();
  completed.event = EventType::SqDrained, completed.cqn = contexts_.qps[qpn].send_cq;
  completed.cqe = {}, completed.cqe.qpn = qpn;
  ports.completions_out->wake_when_free();
}

// True if a CQE was written and more may follow.
bool Requester::complete_one(u32 qpn, Lane& lane) {
  SendState& s = send_[connection_of(qpn)];
  while (s.completed != s.started) {
    const SentMessage& m = sent_.message(connection_of(qpn), s.completed);
    if (psn_distance(m.end_psn(), s.unacked_psn) < 0) break;
    if (m.answer != Answer::Acknowledge && !m.placed) break;  // G30.4: its data come first
    const u32 index = s.completed++;
    if (!m.signaled) continue;
    push_completion(qpn, index, WcStatus::Success, &m);
    return true;
  }
  if (lane.waits_local) fail_refused(qpn, lane);
  if (!lane.failing || lane.fail_index != s.completed) return false;
  push_completion(qpn, s.completed, lane.fail_status, nullptr);
  ++counters.failed;
  if (s.started == s.completed) ++s.started;
  ++s.completed;
  lane.failing = false;
  const bool sends_alone = state_of_failed_sends(contexts_.qps[qpn].service) == QpState::Sqe;
  faults_.push({.qpn = qpn, .sends_alone = sends_alone}), ++for_command_;
  push_error(qpn);
  wake_at(now() + 1);
  return true;
}

void Requester::push_completion(u32 qpn, u32 index, WcStatus status, const SentMessage* message) {
  Completed& completed = ports.completions_out->start();
  completed.event = EventType::Completion, completed.cqn = contexts_.qps[qpn].send_cq;
  Cqe& cqe = completed.cqe = {};
  cqe.status = status, cqe.qpn = qpn, cqe.wqe_index = u16(index);
  if (message)
    cqe.opcode = kWorkRows[std::size_t(message->opcode)].completion, cqe.byte_len = message->bytes;
  probe.event(now() + 1, Step::Completed, qpn, index);
}

// ---- Error
void Requester::enter_error(u32 qpn) {
  push_error(qpn);
  self.wake(now() + 1);
}

void Requester::enter_errors() {
  while (!errors_.empty()) {
    const u32 qpn = errors_.pop();
    Lane& lane = lanes_[qpn];
    if (lane.in_error) continue;
    SendState& s = send_[connection_of(qpn)];
    lane.in_error = true, lane.failing = lane.waits_local = false;
    ++s.epoch, s.notify_drained = false;
    timers_.clear(qpn);
    drop_turns(qpn, lane);
    // What is acknowledged completes first; the scheduler then sends the rest of the queue as turns
    // to flush.
    while (s.completed != s.started) {
      const SentMessage& m = sent_.message(connection_of(qpn), s.completed);
      const bool undone = m.answer == Answer::Nothing && !m.placed;
      if (psn_distance(m.end_psn(), s.unacked_psn) < 0 || m.signaled || undone) break;
      ++s.completed;
    }
    notes_.push({NoteKind::Flush, qpn, s.completed, s.epoch});
  }
}

// Flushes one WQE a cycle (G20.2); the turn only says how many there are.
void Requester::flush() {
  while (!flushing_.empty()) {
    Turn* turn = flushing_.front();
    SendState& s = send_[connection_of(turn->qpn)];
    const u32 end = turn->first + turn->count;
    if (turn->epoch != s.epoch || s.completed == end) {
      flushing_.pop();
      release(turn);
      continue;
    }
    if (lanes_[turn->qpn].completing || !ports.completions_out->can_push()) return;
    push_completion(turn->qpn, s.completed, flush_status(), nullptr);
    if (s.started == s.completed) ++s.started;
    ++s.completed;
  }
}

void Requester::drain(u32 qpn) {
  queue_completion(qpn, lanes_[qpn]);
  self.wake(now() + 1);
}

void Requester::resume(u32 qpn) {
  activate(qpn, lanes_[qpn]);
  self.wake(now() + 1);
}

// What is posted from now on is sent again.
void Requester::recover(u32 qpn) {
  lanes_[qpn].in_error = false;
  SendState& s = send_[connection_of(qpn)];
  notes_.push({NoteKind::Rewind, qpn, s.completed, ++s.epoch});
  self.wake(now() + 1);
}

// By `command`: a reset or destroyed queue pair forgets everything, without completions (G20.3).
void Requester::clear(u32 qpn) {
  Lane& lane = lanes_[qpn];  // new, if its first turn is still on its way
  const bool active = lane.active, completing = lane.completing;
  const u32 life = lane.life + 1;
  const ReadOrder order = lane.order;  // of packets that are still on their way
  drop_turns(qpn, lane);
  if (packetizer_.busy() && gathering_ == qpn) packetizer_.abandon(), gathers_nothing_ = true;
  if (placing_.packet && placing_.packet->qpn == qpn)
    end_placing();  // its buffer stays with the writes under way
  lane = {};
  lane.active = active, lane.completing = completing, lane.life = life, lane.order = order;
  timers_.clear(qpn), paced_.clear(qpn);
  if (send_.holds(connection_of(qpn))) send_[connection_of(qpn)].epoch = ++clears_ << 16;
  notes_.push({NoteKind::Clear, qpn, 0, clears_ << 16});
  self.wake(now() + 1);
}

// Links take one item a cycle.
void Requester::push_note() {
  if (!ports.notes_out->can_push()) return;
  ports.notes_out->push(notes_.pop());
  if (!notes_.empty()) ports.notes_out->wake_when_free();
}

void Requester::push_to_command() {
  if (!faults_.empty() && ports.faults_out->can_push()) {
    ports.faults_out->push(faults_.pop()), --for_command_;
    if (!faults_.empty()) ports.faults_out->wake_when_free();
  }
  if (!works_.empty() && ports.works_out->can_push()) {
    ports.works_out->push(works_.pop()), --for_command_;
    if (!works_.empty()) ports.works_out->wake_when_free();
  }
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/answers.h"

#include <algorithm>
#include <utility>

#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

void Answers::take() {
  DmaLink& data_out = *outputs_.responses_out;
  if (parts_.data.is_placing() && (!data_out.can_push() || !parts_.data.place())) {
    if (parts_.data.is_placing()) data_out.wake_when_free();
    return;
  }
  AckLink& link = acks_in_.next();
  if (!link.can_pop() || (link.front().packet && !data_out.can_push())) return;
  const Acknowledgement a = link.pop();
  acks_in_.pass_turn(link, now());
  const QpConfig* qp = contexts_.find_number(a.qpn);
  if (device::is_ee(a.qpn) && qp && !parts_.ee_service.takes(a)) [[unlikely]] {
    if (a.packet) PacketPool::give_back(a.packet);
    return;
  }
  const auto in_error = [&] { return queues_[a.qpn].in_error; };
  if (!qp || !takes_responses(qp->state) || in_error()) {  // C9-215
    if (qp) counts_.drop(qp->port, &DropCounters::bad_qp_state);
    if (a.packet) PacketPool::give_back(a.packet);
    return;
  }
  if (a.packet) {
    take_response(a, *qp);
    if (parts_.data.is_placing()) data_out.wake_when_free();
    return;
  }
  SendState& s = state_of(a.qpn);
  const AckVerdict v = judge_ack(s, *qp, awaited(a.qpn), a.psn, a.syndrome, a.payload_bytes);
  if (v.action != AckAction::Drop) take_credits(s, a.msn, a.syndrome);
  act(a.qpn, v);
  if (v.selective) [[unlikely]]
    parts_.recovery.take_kept(a.qpn, a.msn);
}

// Returns the oldest unanswered READ or ATOMIC.
const SentMessage* Answers::awaited(u32 qpn) {
  const SendState& s = state_of(qpn);
  return response::awaits_response(s) ? &message_of(qpn, s.awaited) : nullptr;
}

// Takes a READ response or an ATOMIC Acknowledge.
void Answers::take_response(const Acknowledgement& a, const QpConfig& qp) {
  SendState& s = state_of(a.qpn);
  SendQueue& q = queues_[a.qpn];
  Packet* p = a.packet;
  ResponseVerdict v = judge_response(s, qp, awaited(a.qpn), p->parsed);
  const bool atomic = p->parsed.opcode->operation == Operation::AtomicAcknowledge;
  const u32 bytes = atomic ? kAtomicBytes : p->parsed.payload_bytes;
  if (v.places && !parts_.data.may_place(q.awaited.front(), qp, bytes))
    v = {response::fail(a.psn, WcStatus::LocProtErr, "T9-15")};
  if (!v.places) {
    PacketPool::give_back(p);
    return act(a.qpn, v);
  }
  if (p->parsed.has(Ext::Aeth)) take_credits(s, a.msn, a.syndrome);
  ++counters_.responses;
  if (v.completes)
    answer_awaited(s, [&](u32 i) -> const SentMessage& { return message_of(a.qpn, i); });
  if (!bytes) {
    parts_.data.mark_placed(a.qpn, q.awaited.pop().index);
    PacketPool::give_back(p);
    return act(a.qpn, v);
  }
  // The ICRC is checked: an ATOMIC's value overwrites the headers, in the host's byte order.
  if (atomic) store_le8(p->frame(), p->parsed.atomic_ack_eth.original);
  p->life = q.life;
  parts_.data.begin(p, q.awaited.front(), atomic ? 0 : p->parsed.payload_offset, bytes,
                    v.completes);
  act(a.qpn, v);
  parts_.data.place();
}

void Answers::take_placed() {
  const ResponseData::Placed placed = parts_.data.placed_in.pop();
  SendQueue& q = queues_[placed.qpn];
  if (placed.life != q.life) return;
  parts_.data.mark_placed(placed.qpn, placed.index);
  parts_.ends.queue(placed.qpn, q);
  parts_.order.activate(placed.qpn, q);
}

void Answers::take_sent() {
  SentLink& link = sent_in_.next();
  if (!link.can_pop()) return;
  const SentPacket sent = link.pop();
  sent_in_.pass_turn(link, now());
  const QpConfig* qp = contexts_.find_qp(sent.qpn);
  SendQueue& q = queues_[sent.qpn];
  if (!qp || !sends(qp->state) || q.in_error || sent.life != q.life) return;
  // After a migration the old port may report a packet later than the new one reports its
  // successors.
  if (qp->has_moved && psn_distance(state_of(sent.qpn).unacked_psn, sent.next_psn) <= 0) return;
  parts_.psns.finish(sent.qpn, sent.next_psn);
  parts_.ends.queue(sent.qpn, q);
  parts_.order.activate(sent.qpn, q);  // the queue pair may have waited for its window
}

void Answers::expire() {
  Cycle again = kNever;
  const u32 qpn = parts_.timers.due(again);
  if (again != kNever) wake_at(std::max(again, now() + 1));
  if (qpn == Timers::kNone) return;
  SendState& s = state_of(qpn);
  if (std::exchange(s.waits_rnr, false)) {
    end_rnr(queues_[qpn]);
    if (contexts_.qps[qpn].service == Service::Rd) parts_.order.activate(qpn, queues_[qpn]);
    return parts_.outbox.note({NoteKind::Resume, qpn, 0, 0});
  }
  ++counters_.timeouts;
  counters_.waits_timeout += parts_.timers.timeout_of(qpn);
  counts_.timeout(contexts_.qps[qpn]);
  act(qpn, judge_timeout(s));
}

// Ends the RNR wait: its timer expired, or another event came first.
[[gnu::cold]] void Answers::end_rnr(SendQueue& q) {
  counters_.waits_rnr += now() - std::exchange(q.rnr_since, now());
}

// o9-152: sending goes on when `command` has migrated the queue pair (Requester::migrated()).
[[gnu::cold]] void Answers::ask_to_migrate(u32 qpn, const SendQueue& q) {
  parts_.outbox.fault(
      {.qpn = qpn, .life = q.life, .fails = false, .step = PathStep::Migrate, .resumes = true});
  wake_at(now() + 1);
}

void Answers::act(u32 qpn, const AckVerdict& judged) {
  const QpConfig& qp = contexts_.qps[qpn];
  const AckVerdict v = or_migrate(qp, judged);
  if (v.action == AckAction::Drop) return;
  SendState& s = state_of(qpn);
  SendQueue& q = queues_[qpn];
  if (v.action == AckAction::Credits) return parts_.order.activate(qpn, q);
  if (q.in_error) return;
  const bool progress = v.psn != s.unacked_psn;
  if (v.implied) counts_.implied_nak(qp);
  const SendPsns before = static_cast<const SendPsns&>(s);
  apply(s, qp, v);
  if (parts_.psns.stand_in) [[unlikely]]
    parts_.psns.answer(qpn, before, v);
  if (parts_.recovery.selects()) [[unlikely]]
    parts_.recovery.acknowledged(qpn, before.unacked_psn);
  switch (v.action) {
    case AckAction::Resend:
      counters_.sequence_naks += !v.by_timer && !v.implied;
      counters_.implied_naks += v.implied;
      parts_.recovery.go_back(qpn, v, NoteKind::Rewind);
      if (std::exchange(s.waits_rnr, false)) end_rnr(q);
      break;
    case AckAction::Wait:
      ++counters_.rnr_naks;
      if (device::is_ee(qpn) && !q.resyncs) [[unlikely]] {
        parts_.ee_service.suspend(qpn, v.rnr_code);
        break;
      }
      parts_.recovery.go_back(qpn, v, NoteKind::Pause);
      s.waits_rnr = true;
      q.rnr_since = now();
      parts_.timers.wait_rnr(qpn, v.rnr_code);
      break;
    case AckAction::Migrate:
      parts_.recovery.go_back(qpn, v, NoteKind::Pause);
      if (std::exchange(s.waits_rnr, false)) end_rnr(q);
      ask_to_migrate(qpn, q);
      break;
    case AckAction::Fail:
      parts_.ends.fail(
          qpn, wqe_of_psn(s.completed, s.started, v.psn, [&](u32 i) { return message_of(qpn, i); }),
          v.status);
      break;
    default:
      if (progress && !s.waits_rnr) parts_.timers.restart(qpn);
  }
  parts_.ends.queue(qpn, q);
  parts_.order.activate(qpn, q);
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/qp_scheduler.h"

#include <algorithm>
#include <utility>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
void QpScheduler::tick() {
  if (bells_in.can_pop()) ring(bells_in.pop());
  if (notes_in.can_pop()) note(notes_in.pop());
  if (ready_.empty()) return;
  if (now() < next_turn_) return wake_at(next_turn_);
  if (!turns.available() || !outputs.turns_out->can_push()) return;
  start_turn(ready_.pop());
  if (!ready_.empty()) wake_at(std::max(next_turn_, now() + 1));
}

void QpScheduler::ring(const SendBell& bell) {
  const proto::QpConfig* qp = contexts_.find_qp(bell.qpn);
  if (!qp || !proto::has_send_queue(*qp)) {
    if (bell.pushed) Pool<PushedWqe>::give_back(bell.pushed);
    return;
  }
  Queue& q = queues_[bell.qpn];
  posted_[bell.qpn] = q.posted = proto::widen_index(q.posted, bell.producer);
  if (bell.pushed) hold(*qp, q, bell.pushed);
  make_ready(bell.qpn);
}

// A push without a new WQE is a doorbell. So is an incomplete one that the doorbell block took for
// complete, because it does not handle address handles.
void QpScheduler::hold(const proto::QpConfig& qp, Queue& q, PushedWqe* pushed) {
  pushed->index = q.posted - 1;
  pushed->next = nullptr;
  const bool is_new =
      q.fetch != q.posted && !(q.last_pushed && q.last_pushed->index + 1 == q.posted);
  const bool is_whole = !proto::destination_bytes(qp.service) ||
                        proto::holds_whole_wqe({pushed->wqe.data(), pushed->bytes}, qp.service);
  if (!is_new || !is_whole || held_ == config_.pushes) {
    const bool refused = is_new && is_whole;
    ++(refused ? counters.refused_pushes : counters.stale_pushes);
    if (refused && held_) refused_since_ = std::min(refused_since_, now());
    return Pool<PushedWqe>::give_back(pushed);
  }
  ++held_;
  (q.first_pushed ? q.last_pushed->next : q.first_pushed) = pushed;
  q.last_pushed = pushed;
}

PushedWqe* QpScheduler::take_pushed(Queue& q) {
  PushedWqe* first = q.first_pushed;
  q.first_pushed = first->next;
  --held_;
  if (refused_since_ != engine::kNever)
    counters.waits_pushes += now() - std::exchange(refused_since_, engine::kNever);
  if (!q.first_pushed) q.last_pushed = nullptr;
  return first;
}

void QpScheduler::drop_pushed(Queue& q) {
  while (q.first_pushed) Pool<PushedWqe>::give_back(take_pushed(q));
}

// Drops pushed WQEs before the next turn, which was moved past them.
void QpScheduler::drop_passed(Queue& q) {
  while (q.first_pushed && std::int32_t(q.first_pushed->index - q.fetch) < 0) {
    ++counters.stale_pushes;
    Pool<PushedWqe>::give_back(take_pushed(q));
  }
}

// Among the next `count` WQEs of a turn, selects the pushed ones, or those before the first pushed
// one.
void QpScheduler::choose_run(Queue& q, Turn& t) {
  drop_passed(q);
  if (!q.first_pushed) return;
  if (const u32 to_read = q.first_pushed->index - q.fetch)
    return void(t.count = std::min(t.count, to_read));
  PushedWqe** end = &t.pushed;
  u32 count = 0;
  for (; count < t.count && q.first_pushed && q.first_pushed->index == q.fetch + count; ++count) {
    *end = take_pushed(q);
    end = &(*end)->next;
    *end = nullptr;
  }
  t.count = count;
}

void QpScheduler::note(const SchedulerNote& n) {
  Queue& q = queues_[n.qpn];
  if (q.full_since != engine::kNever) end_wait(q);
  switch (n.kind) {
    case NoteKind::TurnDone:
      --q.turns;
      break;
    case NoteKind::Resume:
      q.paused = false;
      break;
    case NoteKind::Pause:
      ++counters.pauses;
      [[fallthrough]];
    case NoteKind::Rewind:
      q.fetch = n.index;
      q.epoch = n.epoch;
      q.paused = n.kind == NoteKind::Pause;
      q.flush = false;
      break;
    case NoteKind::Flush:
      drop_pushed(q);
      q.fetch = n.index;
      q.epoch = n.epoch;
      q.paused = false;
      q.flush = true;
      break;
    case NoteKind::Clear:
      drop_pushed(q);
      q.posted = q.fetch = q.fetched = 0;
      q.epoch = n.epoch;
      q.paused = q.flush = false;
      break;
  }
  make_ready(n.qpn);
}

SchedulerHold QpScheduler::hold(u32 qpn) const {
  const Queue* const q = queues_.find(qpn);
  if (!q) return {};
  return {q->posted, q->fetch, q->turns, config_.turns, q->ready, q->paused};
}

void QpScheduler::make_ready(u32 qpn) {
  Queue& q = queues_[qpn];
  if (q.ready) return;
  if (!wants_turn(q)) {
    const bool full = q.fetch != q.posted && !q.paused;
    if (full && q.full_since == engine::kNever) q.full_since = now();
    return;
  }
  q.ready = true;
  ready_.push(qpn, contexts_.qps[qpn].service_level);
}

void QpScheduler::end_wait(Queue& q) {
  counters.waits_turns += now() - std::exchange(q.full_since, engine::kNever);
}

void QpScheduler::start_turn(u32 qpn) {
  Queue& q = queues_[qpn];
  q.ready = false;
  if (!wants_turn(q)) return;
  const proto::WorkQueue& sq = contexts_.qps[qpn].sq;
  Turn* t = pool_.take();
  turns.take();
  const u32 left = q.posted - q.fetch, to_end = sq.entries() - (q.fetch & (sq.entries() - 1));
  t->qpn = qpn;
  t->first = q.fetch;
  t->epoch = q.epoch;
  t->flush = q.flush;
  t->pushed = nullptr;
  t->count = q.flush ? left : std::min({left, to_end, config_.batch, Turn::kBytes / sq.stride()});
  if (q.first_pushed && !q.flush) [[unlikely]]
    choose_run(q, *t);
  q.fetch += t->count;
  ++q.turns;
  t->again = std::int32_t(q.fetched - q.fetch) >= 0;
  t->cached = t->lent = false;
  if (!t->again) q.fetched = q.fetch;
  ++counters.turns;
  counters.wqes += t->count;
  outputs.turns_out->push(t, 1, config_.latency - 1);
  next_turn_ = now() + config_.interval;
  probe.event(now() + config_.latency, Step::Passed, qpn, t->first, t->count);
  make_ready(qpn);
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/qp_scheduler.h"

#include <algorithm>
#include <utility>

namespace hca::blocks {
void QpScheduler::tick() {
  if (bells_in.can_pop()) ring(bells_in.pop());
  if (notes_in.can_pop()) note(notes_in.pop());
  if (ready_.empty()) return;
  if (now() < next_turn_) return wake_at(next_turn_);
  if (!turns.available() || !ports.turns_out->can_push()) return;
  start_turn(ready_.pop());
  if (!ready_.empty()) wake_at(std::max(next_turn_, now() + 1));
}

void QpScheduler::ring(const SendBell& bell) {
  const proto::QpConfig* qp = contexts_.find_qp(bell.qpn);
  if (!qp || !proto::takes_sends(qp->state)) {
    if (bell.pushed) Pool<PushedWqe>::give_back(bell.pushed);
    return;
  }
  Queue& q = queues_[bell.qpn];
  q.posted = proto::widen_index(q.posted, bell.producer);
  if (q.pushed) ++counters.stale_pushes, Pool<PushedWqe>::give_back(q.pushed);
  q.pushed = bell.pushed;
  make_ready(bell.qpn);
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
      q.fetch = n.index, q.epoch = n.epoch, q.paused = n.kind == NoteKind::Pause;
      q.flush = false;
      break;
    case NoteKind::Flush:
      q.fetch = n.index, q.epoch = n.epoch, q.paused = false, q.flush = true;
      break;
    case NoteKind::Clear:
      if (q.pushed) Pool<PushedWqe>::give_back(q.pushed);
      q.posted = q.fetch = q.fetched = 0, q.epoch = n.epoch, q.paused = q.flush = false,
      q.pushed = nullptr;
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
  t->qpn = qpn, t->first = q.fetch, t->epoch = q.epoch, t->flush = q.flush, t->pushed = nullptr;
  t->count = q.flush ? left : std::min({left, to_end, config_.batch, Turn::kBytes / sq.stride()});
  if (q.pushed && left == 1 && !q.flush) t->pushed = std::exchange(q.pushed, nullptr);
  q.fetch += t->count, ++q.turns;
  t->again = std::int32_t(q.fetched - q.fetch) >= 0, t->cached = false;
  if (!t->again) q.fetched = q.fetch;
  ++counters.turns, counters.wqes += t->count;
  ports.turns_out->push(t, 1, config_.latency - 1);
  next_turn_ = now() + config_.interval;
  probe.event(now() + config_.latency, Step::Passed, qpn, t->first, t->count);
  make_ready(qpn);
}
}  // namespace hca::blocks

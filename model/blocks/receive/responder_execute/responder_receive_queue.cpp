// SPDX-License-Identifier: Apache-2.0
// The receive queues of responder_execute: WQEs are read in batches, ahead of their use.
#include <algorithm>
#include <utility>

#include "model/blocks/receive/responder_execute/responder_execute.h"

namespace hca::blocks {
using namespace proto;

namespace {
bool holds(const ReceiveBatch* b, u32 index) { return b && index - b->first < b->count; }
}  // namespace

// The WQE, if it is here; if not, it is asked for. Half a batch ahead the following one is asked
// for as well.
const u8* ResponderExecute::receive_wqe(u32 qpn, Queue& q, u32 index) {
  q.next_wqe = index;
  q.posted = later_index(q.posted, index + 1);
  if (!holds(q.current, index) && holds(q.following, index)) {
    Pool<ReceiveBatch>::give_back(q.current);
    q.current = std::exchange(q.following, nullptr);
  }
  if (!holds(q.current, index)) return ask_batch(qpn), nullptr;
  q.next_wqe = index + 1;
  if (index - q.current->first >= q.current->count / 2) ask_batch(qpn);
  return q.current->wqes.data() + (index - q.current->first) * contexts_.qps[qpn].rq.stride();
}

// The first WQE that is not here: a message that was abandoned gives its own back.
u32 ResponderExecute::next_batch(const Queue& q) {
  const bool here = holds(q.current, q.next_wqe - 1) || holds(q.current, q.next_wqe);
  return here ? q.current->first + q.current->count : q.next_wqe;
}

void ResponderExecute::ask_batch(u32 qpn) {
  Queue& q = queues_[qpn];
  if (q.fetching || q.failed) return;
  // WRITEs with Immediate take WQEs without a look at them, perhaps all that are here.
  if (q.following && !holds(q.current, q.next_wqe) && !holds(q.following, q.next_wqe))
    Pool<ReceiveBatch>::give_back(std::exchange(q.following, nullptr));
  if (q.following) return;
  const u32 first = next_batch(q);
  if (first == q.posted) return;
  q.fetching = true;
  fetches_.push(qpn);
  self.wake(now() + 1);
}

void ResponderExecute::fetch_batches() {
  if (fetches_.empty() || fetching_ == batches_in.depth()) return;  // accept_batch() makes room
  if (!ports.receive_wqes_out->can_push()) return;
  const u32 qpn = fetches_.pop();
  if (!fetches_.empty()) wake_at(now() + 1);
  Queue& q = queues_[qpn];
  const QpConfig* qp = contexts_.find_qp(qpn);
  if (!qp) return void(q.fetching = false);
  const u32 first = next_batch(q);
  if (first == q.posted) return void(q.fetching = false);  // taken since it was asked
  const u32 to_end = qp->rq.entries() - (first & (qp->rq.entries() - 1));
  ReceiveBatch* b = batches_.take();
  b->qpn = qpn, b->first = first, b->life = q.life;
  b->count =
      std::min({q.posted - first, to_end, config_.batch, u32(b->wqes.size()) / qp->rq.stride()});
  ++counters.receive_fetches, ++fetching_;
  ports.receive_wqes_out->start().set_read(qp->rq.slot(first), b->wqes.data(),
                                           b->count * qp->rq.stride(), b);
}

Dma::Client ResponderExecute::receive_wqe_client() {
  return {this, [](void* owner, const DmaRequest& r, Cycle, Cycle last) {
            auto& x = *static_cast<ResponderExecute*>(owner);
            const Cycle now = x.dma.now();
            auto* const batch = static_cast<ReceiveBatch*>(r.context);
            batch->unreadable = r.failed;
            x.batches_out->push(batch, 1, last > now + 1 ? last - now - 1 : 0);
          }};
}

void ResponderExecute::accept_batch(ReceiveBatch* b) {
  --fetching_;
  Queue& q = queues_[b->qpn];
  if (b->life != q.life) return Pool<ReceiveBatch>::give_back(b);
  q.fetching = false;
  if (holds(q.current, q.next_wqe - 1) || holds(q.current, q.next_wqe)) {
    q.following = b;
  } else {
    if (q.current) Pool<ReceiveBatch>::give_back(q.current);
    q.current = b;
  }
  unpark_later(b->qpn, q);
}

// C9-28: what writes memory comes after the ATOMICs before it; they are done out of `take`. So is
// the taking away of a key: each access after it is judged then, and each refusal is one only if
// the queue pair has not failed by then.
bool ResponderExecute::waits_for_earlier(const Packet& p, const Queue& q) {
  if (q.invalidates) return true;
  return q.atomics && p.verdict.action == RequestAction::Execute &&
         !p.parsed.opcode->traits().is_saved();
}

void ResponderExecute::unpark_later(u32 qpn, Queue& q) {
  if (q.parked_head && !q.unparking) q.unparking = true, unparks_.push(qpn);
}

void ResponderExecute::park(Packet* p, Queue& q) {
  p->next = nullptr;
  if (q.parked_head)
    q.parked_tail->next = p;
  else
    q.parked_head = p;
  q.parked_tail = p;
  ++parked_, ++counters.parked;
}

// Processes the first packet of a queue pair whose WQEs have come; false: nothing was done.
bool ResponderExecute::unpark() {
  const u32 qpn = unparks_.front();
  Queue& q = queues_[qpn];
  Packet* p = q.parked_head;
  const bool counts = p && counts_itself(*p);
  if (counts) begin_unreliable(*p, q);
  const bool needs_wqe = p && p->verdict.action == RequestAction::Execute &&
                         p->parsed.opcode->operation == Operation::Send &&
                         begins_message(p->parsed.opcode->position) && !q.failed &&
                         !(counts && lacks_wqe(*p, q));
  const u32 index = counts ? q.next_wqe : p ? p->effect.receive_wqe : 0;
  const bool waits = p && !q.failed && waits_for_earlier(*p, q);
  if (!p || waits || (needs_wqe && !holds(q.current, index) && !holds(q.following, index))) {
    if (p && !waits) {
      q.next_wqe = index, q.posted = later_index(q.posted, index + 1), ask_batch(qpn);
      if (q.wqe_since == kNever) q.wqe_since = now();
    }
    q.unparking = false;
    unparks_.pop();
    return false;
  }
  q.parked_head = p->next;
  --parked_;
  if (q.wqe_since != kNever) end_wqe_wait(qpn, q);
  if (!q.failed) return process(p, q), true;
  drop_behind_failure(p, q);
  return true;
}

void ResponderExecute::end_wqe_wait(u32 qpn, Queue& q) {
  u64& waits = uses_srq(contexts_.qps[qpn]) ? counters.waits_shared_wqes : counters.waits_wqes;
  waits += now() - std::exchange(q.wqe_since, kNever);
}

// WQEs were posted: in a queue pair that works, the first batch is read ahead; in Error they are
// flushed.
void ResponderExecute::ring(const ReceiveBell& bell) {
  Queue& q = queues_[bell.qpn];
  q.posted = later_index(q.posted, bell.posted);
  if (q.flushing) return flushes_.push(bell.qpn);
  if (!q.current) ask_batch(bell.qpn);
  offer_credits(bell.qpn, q);
}

void ResponderExecute::enter_error(u32 qpn) {
  Queue& q = queues_[qpn];
  if (q.flushing) return;
  q.failed = q.flushing = true;
  const bool shared = uses_srq(contexts_.qps[qpn]);
  if (shared && q.wqe_open) q.next_wqe = q.open_wqe + 1;  // all that is left to flush here
  q.posted = shared ? q.next_wqe : receive_[connection_of(qpn)].rq_posted;
  unpark_later(qpn, q);
  if (q.reading) q.reading->effect.packets = q.reading->asked;  // no response begins any more
  list(qpn, q);
  flushes_.push(qpn);
  self.wake(now() + 1);
}

// Flushes one WQE a cycle, behind all completions that are on their way (G20.2).
void ResponderExecute::flush() {
  if (flush_lost()) return;
  while (!flushes_.empty()) {
    const u32 qpn = flushes_.front();
    Queue& q = queues_[qpn];
    if (!q.flushing || (q.next_wqe == q.posted && !q.wqe_open)) {
      if (q.flushing && uses_srq(contexts_.qps[qpn])) {
        if (!tell_last(qpn)) return;
      } else if (q.flushing) {
        receive_[connection_of(qpn)].rq_consumed = q.next_wqe;
      }
      flushes_.pop();
      continue;
    }
    if (q.first || !ports.completions_out->can_push()) return;
    if (std::exchange(q.wqe_open, false)) --q.next_wqe;  // of a message that will not be finished
    Completed c{contexts_.qps[qpn].receive_cq, {}};
    c.cqe.opcode = CqeOpcode::Receive, c.cqe.status = flush_status(), c.cqe.qpn = qpn;
    c.cqe.wqe_index = u16(q.next_wqe++);
    ports.completions_out->push(c);
    return ports.completions_out->wake_when_free();
  }
}

ResponderHold ResponderExecute::hold(u32 qpn) const {
  const Queue* const q = queues_.find(qpn);
  if (!q) return {};
  ResponderHold h;
  for (const Packet* p = q->parked_head; p; p = p->next) ++h.parked;
  if (const Packet* const p = q->parked_head) {
    h.psn = p->psn, h.wqe = p->effect.receive_wqe;
    h.waits_invalidate = q->invalidates, h.reading = q->fetching;
    h.waits_atomic = waits_for_earlier(*p, *q);
  }
  if (const Outcome* const o = q->first) {
    h.has_answer = true, h.answer_psn = o->reply.psn, h.answer_listed = q->listed;
    h.answer_waits = (o->waits && !q->ordered) || (o->kind != OutcomeKind::Plain && o->started);
    h.answer_drains = o->invalidates;
  }
  return h;
}

void ResponderExecute::drop_batches(Queue& q) {
  for (ReceiveBatch** b : {&q.current, &q.following})
    if (*b) Pool<ReceiveBatch>::give_back(std::exchange(*b, nullptr));
}

void ResponderExecute::clear(u32 qpn) {
  Queue* const found = queues_.find(qpn);
  if (!found) return;
  Queue& q = *found;
  if (placing_ && placing_->qpn == qpn) end_pieces();  // its buffer stays with the writes under way
  drop_batches(q);
  for (Packet* p = q.parked_head; p; --parked_) drop_behind_failure(std::exchange(p, p->next), q);
  forget_outcomes(q);
  reads_finished[qpn].reset();
  const bool unparking = q.unparking, listed = q.listed, tells = q.tells;
  const u32 life = q.life + 1;
  q = {};
  q.unparking = unparking, q.listed = listed, q.tells = tells, q.life = life;
}
}  // namespace hca::blocks

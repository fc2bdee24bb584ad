// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/responder_execute.h"

#include <utility>

namespace hca::blocks {
using namespace proto;

ResponderExecute::ResponderExecute(const ResponderExecuteConfig& config,
                                   const PerPort<TxRelease>& timing, device::Contexts& contexts,
                                   Protection& protection, Accesses& accesses,
                                   const std::array<u32, 16>& lane_of_sl, Payload payload)
    : ports(config, contexts),
      config_(config),
      contexts_(contexts),
      shared_(self, config_, contexts, queues_, ports, outputs, counters, probe),
      stage_(shared_, protection),
      requests_(shared_, packets_in),
      parked_(shared_),
      payload_(shared_, protection, accesses, ordered_in),
      credits_(shared_),
      outcomes_(shared_, stage_, accesses, parked_, credits_, reads_finished),
      receive_wqes_(shared_, batches_in, batches_out),
      flush_(shared_, contexts),
      unreliable_(shared_, contexts, outcomes_),
      rd_(shared_, contexts, stage_, outcomes_),
      execution_(shared_, {protection, stage_, parked_, receive_wqes_, payload_, outcomes_,
                           unreliable_, flush_, rd_}),
      responses_(shared_, lane_of_sl, payload),
      reads_(shared_, timing, outcomes_, responses_),
      atomics_(shared_, accesses, outcomes_, responses_),
      answers_(shared_, protection, parked_, outcomes_, reads_, atomics_) {
  bells_in.mark(pending_, 1);
  batches_in.mark(pending_, 1);
  ordered_in.mark(pending_, 1);
}

// Serves the ports' work in progress.
inline void ResponderExecute::serve_ports() {
  if (packets_in.count() > 1) [[unlikely]]
    return serve_several();
  if (ports[0].responses_in.can_pop()) [[unlikely]]
    reads_.forward(0);
  if (atomics_.any_to_finish()) [[unlikely]]
    atomics_.finish();
  const Ring<u32>& listed = outcomes_.listed(0);
  if (!listed.empty() && answers_.settle(0) && !listed.empty()) [[unlikely]]
    wake_at(now() + 1);
  if (reads_.any(0) && reads_.ask(0) && reads_.any(0)) [[unlikely]]
    wake_at(now() + 1);
  if (atomics_.any_to_start()) [[unlikely]]
    atomics_.start();
  if (credits_.any_to_tell(0)) [[unlikely]]
    credits_.tell(0);
}

[[gnu::hot]] void ResponderExecute::tick() {
  if (pending_) [[unlikely]]
    take_news();
  Packet* const placing = payload_.packet();
  const bool placed = placing && payload_.next_piece();
  if (placed) execution_.finish_placed(placing);
  if (!placing || placed) {
    if (receive_wqes_.any_to_fetch()) [[unlikely]]
      receive_wqes_.fetch();
    take();
  }
  serve_ports();
  if (flush_.any() && !payload_.packet()) [[unlikely]]
    flush_.flush();
}

// Takes doorbells, batches of receive WQEs, and notices of ordered data; most requests bring none.
void ResponderExecute::take_news() {
  if (ReceiveBellLink& link = bells_in.next(); link.can_pop()) {
    ring(link.pop());
    bells_in.pass_turn(link, now());
  }
  if (batches_in.can_pop()) {
    take_batch(batches_in.pop());
  }
  if (ordered_in.can_pop()) {
    const Ordered ordered = ordered_in.pop();
    ResponderQueue& q = queues_[ordered.qpn];
    if (ordered.life == q.life) {
      ++q.ordered;
      outcomes_.list(ordered.qpn, q);
    }
  }
  pending_ = !bells_in.empty() || !batches_in.empty() || !ordered_in.empty();
}

void ResponderExecute::take_batch(ReceiveBatch* batch) {
  if (batch->ahead) [[unlikely]] {
    for (const SharedWaiter& w : receive_wqes_.accept_shared(batch))
      parked_.note_due(w.qpn, queues_[w.qpn]);
    return;
  }
  const u32 qpn = batch->qpn;
  if (receive_wqes_.accept(batch)) parked_.note_due(qpn, queues_[qpn]);
}

// WQEs were posted. In a working queue pair the first batch is read ahead; in Error they are
// flushed.
void ResponderExecute::ring(const ReceiveBell& bell) {
  if (bell.shared) return receive_wqes_.post_shared(bell.qpn, bell.posted);
  ResponderQueue& q = queues_[bell.qpn];
  q.posted = later_index(q.posted, bell.posted);
  if (q.flushing) return flush_.add(bell.qpn);
  const bool is_read_here = contexts_.qps[bell.qpn].service != Service::Rd;
  if (!q.current && is_read_here) receive_wqes_.ask(bell.qpn);
  credits_.offer(bell.qpn, q);
}

void ResponderExecute::serve_several() {
  const unsigned count = packets_in.count();
  for (unsigned i = 0; i < count; ++i)
    if (ports[i].responses_in.can_pop()) reads_.forward(i);
  if (atomics_.any_to_finish()) atomics_.finish();
  const bool settled =
      serve_in_turn(count, settle_turn_, [&](unsigned i) { return answers_.settle(i); });
  const bool asked =
      serve_in_turn(count, read_turn_, [&](unsigned i) { return reads_.any(i) && reads_.ask(i); });
  if (settled || asked) wake_at(now() + 1);
  if (atomics_.any_to_start()) atomics_.start();
  for (unsigned i = 0; i < count; ++i) credits_.tell(i);
}

// Takes the next request: those whose receive WQE has arrived go first.
inline void ResponderExecute::take() {
  if (now() < next_packet_) return wake_at(next_packet_);
  if (!outputs.payload_out->can_push()) return;
  bool unparked = false;
  while (!unparked && parked_.any_due()) [[unlikely]] unparked = unpark();
  if (!unparked) {
    if (parked_.is_full()) return requests_.hold_for_places();
    requests_.end_hold();
    Packet* p = requests_.next();
    if (!p) return;
    ResponderQueue& q = queues_[p->qpn];
    p->life = q.life;
    const QpState state = contexts_.qps[p->qpn].state;
    q.taken += p->effect.takes_shared && state != QpState::Reset;
    if (q.failed || !takes_requests(state)) [[unlikely]]
      return execution_.drop_after_failure(p, q);
    if (q.parked_head || ((q.atomics | q.invalidates) && ParkedRequests::waits_for_earlier(*p, q)))
        [[unlikely]]
      return parked_.park(p, q);
    if (device::is_ee(p->qpn) && rd_.waits(*p, q)) [[unlikely]]
      return parked_.park(p, q);
    execution_.carry_out(p, q);
  }
  next_packet_ = now() + config_.interval;
  if (packets_in.can_pop() || parked_.any_due() || (unparked && requests_.engines_have_work()))
    wake_at(next_packet_);
}

// Carries out the first request of a queue pair whose WQEs have arrived. False: nothing was done.
bool ResponderExecute::unpark() {
  const u32 qpn = parked_.first_due();
  ResponderQueue& q = queues_[qpn];
  if (!q.parked_head || has_to_wait(q.parked_head, qpn, q)) {
    parked_.put_off_first(q);
    return false;
  }
  Packet* const p = parked_.take_first(q);
  if (q.wqe_since != kNever) parked_.end_wqe_wait(qpn, q);
  if (!q.failed) {
    execution_.carry_out(p, q);
    return true;
  }
  execution_.drop_after_failure(p, q);
  return true;
}

// True: the request waits for earlier requests, or for its receive WQE, which is requested here.
bool ResponderExecute::has_to_wait(Packet* p, u32 qpn, ResponderQueue& q) {
  const bool counts = unreliable_.counts_itself(*p);
  if (counts) unreliable_.begin_message(*p, q);
  if (q.failed) return false;
  if (ParkedRequests::waits_for_earlier(*p, q)) return true;
  if (device::is_ee(qpn) && rd_.waits(*p, q)) return true;
  const bool needs_wqe = p->verdict.action == RequestAction::Execute &&
                         p->parsed.opcode->operation == Operation::Send &&
                         begins_message(p->parsed.opcode->position) &&
                         !unreliable_.lacks_wqe(*p, q);
  const u32 index = counts ? q.next_wqe : p->effect.receive_wqe;
  if (!needs_wqe || receive_wqes_.has(q, p->receive_queue, index)) return false;
  receive_wqes_.want(qpn, q, p->receive_queue, index);
  if (q.wqe_since == kNever) q.wqe_since = now();
  return true;
}

void ResponderExecute::enter_error(u32 qpn) {
  ResponderQueue& q = queues_[qpn];
  if (q.flushing) return;
  q.failed = q.flushing = true;
  parked_.note_due(qpn, q);
  if (q.reading) q.reading->effect.packets = q.reading->asked;  // no further response begins
  outcomes_.list(qpn, q);
  flush_.end_received(qpn, true);
  flush_.begin(qpn, q);
  wake_at(now() + 1);
}

void ResponderExecute::clear(u32 qpn) {
  ResponderQueue* const found = queues_.find(qpn);
  if (!found) return;
  ResponderQueue& q = *found;
  if (const Packet* const p = payload_.packet(); p && p->qpn == qpn)
    payload_.end();  // the writes in flight keep its buffer
  ReceiveWqes::drop(q);
  while (q.parked_head) execution_.drop_after_failure(parked_.take_first(q), q);
  outcomes_.forget(q);
  reads_finished[qpn].reset();
  flush_.end_received(qpn, false);
  const bool unparking = q.unparking, listed = q.listed, tells = q.tells;
  const u32 life = q.life + 1;
  q = {};
  q.unparking = unparking;
  q.listed = listed;
  q.tells = tells;
  q.life = life;
}

void ResponderExecute::end_context(u32 ee, WcStatus status) {
  const u32 number = device::receiver_number(ee);
  flush_.end_message(number, queues_[number], status);
  wake_at(now() + 1);
}

ResponderHold ResponderExecute::hold(u32 qpn) const {
  const ResponderQueue* const q = queues_.find(qpn);
  if (!q) return {};
  ResponderHold h;
  for (const Packet* p = q->parked_head; p; p = p->next) ++h.parked;
  if (const Packet* const p = q->parked_head) {
    h.psn = p->psn;
    h.wqe = p->effect.receive_wqe;
    h.waits_invalidate = q->invalidates;
    h.reading = q->fetching;
    h.waits_atomic = ParkedRequests::waits_for_earlier(*p, *q);
  }
  if (const Outcome* const o = q->first) {
    h.has_answer = true;
    h.answer_psn = o->reply.psn;
    h.answer_listed = q->listed;
    h.answer_waits = q->ordered < o->waits || (o->kind != OutcomeKind::Plain && o->started);
    h.answer_drains = o->invalidates;
  }
  return h;
}
}  // namespace hca::blocks

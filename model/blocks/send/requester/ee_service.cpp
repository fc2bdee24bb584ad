// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/ee_service.h"

#include <utility>

namespace hca::blocks {
using namespace proto;

void EeService::ask(u32 qpn, SendQueue& q, u32 ee) {
  q.asks = ee;
  ees_[ee].asking.push(qpn);
  serve_next(ee);
}

void EeService::serve_next(u32 ee) {
  Context& c = ees_[ee];
  if (!may_serve_next(contexts_.qps[ee], c.serves, !c.asking.empty())) return;
  const u32 qpn = c.asking.pop();
  SendQueue &asking = queues_[qpn], &own = queues_[ee];
  QpConfig& config = served_[ee];
  serve(config, contexts_.qps[qpn]);
  const u32 stride = config.sq.stride();
  std::copy_n(asking.head->wqes.data() + asking.at * stride, stride, c.wqe.begin());
  const WorkRow& row = row_of(decode<SendWqe>(c.wqe.data()));
  own.rd = decode<RdAddress>(c.wqe.data() + rd_address_offset(row));
  config.dest_qpn = own.rd.dest_qpn;
  SendState &s = state_of(ee), &queue = state_of(qpn);
  if (queue.started == queue.completed) ++queue.started;
  SentMessage& m =
      message_of(qpn, queue.completed);  // not acknowledged until the EE context says so
  m = {};
  m.first_psn = queue.unacked_psn;
  m.packets = 1;
  const bool goes_on =
      std::exchange(asking.suspended, false) && config.options.rd_rnr_count == RdRnrCount::Message;
  s.rnr_retries_left = goes_on ? queue.rnr_retries_left : config.rnr_retry;
  c.serves = true;
  lend(ee);
}

// The WQE as the first one of the EE context.
void EeService::lend(u32 ee) {
  const SendState& s = state_of(ee);
  SendQueue& q = queues_[ee];
  Turn* const t = pool_.take();
  t->next = nullptr;
  t->qpn = ee;
  t->first = s.completed;
  t->count = 1;
  t->epoch = s.epoch;
  t->flush = t->unreadable = t->again = t->cached = false;
  t->lent = true;
  t->pushed = nullptr;
  t->order = nullptr;
  const Context& c = ees_[ee];
  std::copy(c.wqe.begin(), c.wqe.end(), t->wqes.begin());
  auto wqe = decode<SendWqe>(c.wqe.data());
  wqe.index = u16(s.completed);
  encode(wqe, t->wqes.data());
  q.head = q.tail = t;
  q.at = 0;
  parts_.order.activate(ee, q);
  wake_at(now() + 1);
}

// Nothing more of the message leaves.
void EeService::stop(u32 ee) {
  SendQueue& q = queues_[ee];
  parts_.turns.drop(q);
  parts_.timers.clear(ee);
  ++state_of(ee).epoch;
  while (!q.awaited.empty()) q.awaited.drop();
  ++q.life;  // data that are still being placed belong to no message
}

void EeService::free_context(u32 ee) {
  SendState& s = state_of(ee);
  ees_[ee].serves = false;
  ees_[ee].resync = Resync::None;
  queues_[ee].resyncs = false;
  parts_.turns.drop(queues_[ee]);
  parts_.timers.clear(ee);
  s.waits_rnr = false;
  if (s.completed == s.started) ++s.started;
  ++s.completed;
}

bool EeService::complete(u32 ee, SendQueue& q) {
  SendState& s = state_of(ee);
  if (s.completed == s.started) return false;
  const SentMessage m = message_of(ee, s.completed);
  if (psn_distance(m.end_psn(), s.unacked_psn) < 0) return false;
  if (m.answer != Answer::Acknowledge && !m.placed) return false;  // G30.4
  if (q.resyncs) return end_resync(ee), false;
  const u32 qpn = contexts_.qps[ee].served;
  SendQueue& asking = queues_[qpn];
  free_context(ee);
  asking.asks = 0;
  const u32 index = state_of(qpn).completed++;
  if (m.signaled) parts_.ends.push_completion(qpn, index, WcStatus::Success, &m);
  if (asking.head) parts_.turns.finish_wqe(qpn, asking);
  parts_.ends.queue(qpn, asking);
  serve_next(ee);
  return m.signaled;
}

void EeService::fail_queue_pair(u32 qpn, WcStatus status) {
  queues_[qpn].asks = 0;
  parts_.ends.fail(qpn, state_of(qpn).completed, status);
}

void EeService::fail(u32 ee, WcStatus status) {
  Context& c = ees_[ee];
  SendQueue& q = queues_[ee];
  if (q.in_error) return;
  const SendState& s = state_of(ee);
  if (q.resyncs || stops_ee_context(contexts_.qps[ee], status)) {
    if (c.resync != Resync::Fails) c.status = status;
    stop(ee);
    q.in_error = true;
    return parts_.outbox.fault({.qpn = ee});
  }
  if (s.started != s.completed) {
    c.status = status;
    return start_resync(ee, Resync::Fails);
  }
  free_context(ee);
  fail_queue_pair(contexts_.qps[ee].served, status);
  serve_next(ee);
}

void EeService::suspend(u32 ee, u8 rnr_code) {
  const u32 qpn = contexts_.qps[ee].served;
  SendState& queue = state_of(qpn);
  queue.rnr_retries_left = state_of(ee).rnr_retries_left;
  queue.waits_rnr = true;
  queues_[qpn].suspended = true;
  queues_[qpn].rnr_since = now();
  parts_.timers.wait_rnr(qpn, rnr_code);
  start_resync(ee, Resync::Suspends);
}

// G13.3: the message ends at the responder too. Its WQE is one without data.
void EeService::start_resync(u32 ee, Resync end) {
  Context& c = ees_[ee];
  SendState& s = state_of(ee);
  stop(ee);
  c.resync = end;
  queues_[ee].resyncs = true;
  const SendPsns before = static_cast<const SendPsns&>(s);
  SentMessage& m = message_of(ee, s.completed);
  begin_resync(m, s, contexts_.qps[ee]);
  if (parts_.psns.stand_in) parts_.psns.resync(ee, before, m);
  SendWqe wqe{};
  wqe.opcode = WorkOpcode::Send;
  wqe.inline_data = true;
  encode(wqe, c.wqe.data());
  lend(ee);
}

void EeService::end_resync(u32 ee) {
  const Context& c = ees_[ee];
  const Resync end = c.resync;
  const u32 qpn = contexts_.qps[ee].served;
  free_context(ee);
  if (end == Resync::Fails) fail_queue_pair(qpn, c.status);
  if (end == Resync::Suspends) {
    queues_[qpn].asks = 0;
    parts_.order.activate(qpn, queues_[qpn]);
  }
  serve_next(ee);
}

bool EeService::takes(const Acknowledgement& a) {
  const QpConfig& context = contexts_.qps[a.qpn];
  const QpConfig* const qp = contexts_.find_qp(a.dest_qpn);
  if (const auto counter = answer_drop(qp, queues_[a.qpn].resyncs))
    return counts_.drop(context.port, counter), false;
  return !is_ghost(context, a.dest_qpn);
}

void EeService::note(const SchedulerNote& n) {
  const bool again = n.kind == NoteKind::Rewind || n.kind == NoteKind::Resume;
  if (again && ees_[n.qpn].serves && !queues_[n.qpn].head) lend(n.qpn);
}

// ---- In the next tick
void EeService::leave(u32 qpn, SendQueue& q) {
  if (q.suspended) state_of(qpn).waits_rnr = q.suspended = false;
  if (!q.asks) return;
  leaving_.push({qpn, std::exchange(q.asks, 0)});
  pending_ |= kOwn;
  wake_at(now() + 1);
}

void EeService::end(u32 ee, WcStatus served, WcStatus asking, bool is_reset) {
  ending_.push({ee, served, asking, is_reset});
  pending_ |= kOwn;
}

void EeService::act() {
  while (!leaving_.empty()) take_leave(leaving_.pop());
  while (!ending_.empty()) take_end(ending_.pop());
}

void EeService::take_leave(const Leaving& leaving) {
  Context& c = ees_[leaving.ee];
  for (u32 left = c.asking.size(); left; --left) {
    const u32 qpn = c.asking.pop();
    if (qpn != leaving.qpn) c.asking.push(qpn);
  }
  if (!c.serves || contexts_.qps[leaving.ee].served != leaving.qpn) return;
  if (queues_[leaving.ee].resyncs) return void(c.resync = Resync::Leaves);
  const SendState& s = state_of(leaving.ee);
  if (s.started != s.completed) return start_resync(leaving.ee, Resync::Leaves);
  free_context(leaving.ee);
  serve_next(leaving.ee);
}

void EeService::take_end(const Ending& e) {
  Context& c = ees_[e.ee];
  SendQueue& own = queues_[e.ee];
  const bool blamed = blames(e.ee);
  stop(e.ee);
  if (c.serves) free_context(e.ee);
  own.in_error = !e.is_reset;
  if (blamed) fail_queue_pair(contexts_.qps[e.ee].served, e.served);
  while (!c.asking.empty()) fail_queue_pair(c.asking.pop(), e.asking);
  if (!e.is_reset) return;
  const u32 epoch = state_of(e.ee).epoch;
  state_of(e.ee) = {};
  state_of(e.ee).epoch = epoch;
}

bool EeService::serves(u32 ee) const {
  const Context* const c = ees_.find(ee);
  return c && c->serves;
}
bool EeService::blames(u32 ee) const {
  return serves(ee) && ees_.find(ee)->resync != Resync::Leaves;
}
WcStatus EeService::failed_status(u32 ee) const { return ees_.find(ee)->status; }
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/outcomes.h"

#include <algorithm>
#include <utility>

#include "model/proto/transport/ee_context.h"

namespace hca::blocks {
using namespace proto;

Outcome& Outcomes::retire(const Packet& p) {
  const QpConfig& qp = contexts_.qps[p.qpn];
  ResponderQueue& q = queues_[p.qpn];
  Outcome* o = outcomes_.take();
  Pool<Outcome>* const home = o->home;
  *o = {};
  o->home = home;
  describe(*o, p);
  o->congested = p.effect.congested | q.owes_becn;
  q.owes_becn = false;
  if (device::is_ee(p.qpn)) [[unlikely]]
    answer_from(*o, p, qp);
  complete_to(o->completed, p.qpn, p.receive_queue);
  o->completed.cqe.wqe_index = u16(p.effect.receive_wqe);
  ++in_flight_;
  (q.first ? q.last->next : q.first) = o;
  q.last = o;
  if (q.first == o || q.reading) list(p.qpn, q);
  return *o;
}

void Outcomes::describe(Outcome& o, const Packet& p) const {
  o.not_before = std::max(p.last, stage_.last());
  o.reply = {p.qpn, p.effect.ack_psn, p.effect.msn,
             answer_syndrome(p.verdict, p.effect, contexts_.qps[p.qpn])};
  o.consumed = p.effect.receive_wqe + 1;
}

// A later ACK covers the earlier one (G4.2). Answers of RD go to different queue pairs.
void Outcomes::retire_ack(const Packet& p, bool replies, u32 payloads) {
  ResponderQueue& q = queues_[p.qpn];
  const bool merges = is_full() && q.first && q.last->is_ack && !device::is_ee(p.qpn);
  if (!merges) {
    Outcome& o = retire(p);
    o.is_ack = true;
    o.replies = replies;
    o.waits = payloads;
    return;
  }
  Outcome& o = *q.last;
  if (replies) describe(o, p);
  o.not_before = std::max({o.not_before, p.last, stage_.last()});
  o.congested |= p.effect.congested | std::exchange(q.owes_becn, false);
  o.replies |= replies;
  o.waits += payloads;
  ++counters_.merged;
  if (q.first == &o) list(p.qpn, q);
}

// RD: the answer goes to the queue pair that asked (G13.2); VAL-10.
void Outcomes::answer_from(Outcome& o, const Packet& p, const QpConfig& qp) {
  o.reply.dest_qpn = p.parsed.deth.src_qp;
  o.reply.pkey = answer_pkey(qp, p.parsed, p.verdict.cause);
  o.completed.cqe.src_qp = p.parsed.deth.src_qp;
}

void Outcomes::list(u32 qpn, ResponderQueue& q) {
  if (q.listed) return;
  q.listed = true;
  listed_[ports_.number_of(qpn)].push(qpn);
}

void Outcomes::begin_access(Outcome& o, const Region& region) {
  o.granted = true;
  accesses_.begin_read(key_index(o.effect.rkey));
  if (!region.pages) return;
  o.pages = held_regions_.take();
  o.pages->region = region;
}

void Outcomes::end_access(Outcome& o) {
  if (o.granted) accesses_.end_read(key_index(o.effect.rkey));
  if (o.pages) Pool<HeldRegion>::give_back(o.pages);
}

void Outcomes::drop_first(u32 qpn, ResponderQueue& q) {
  Outcome* const o = q.first;
  q.first = o->next;
  end_access(*o);
  Pool<Outcome>::give_back(o);
  --in_flight_;
  if (q.first)
    list(qpn, q);
  else
    credits_.offer(qpn, q);
  if (device::is_ee(qpn) && q.parked_head && !q.first) [[unlikely]] {
    parked_.note_due(qpn, q);  // for another queue pair
    wake_at(now() + 1);
  }
}

void Outcomes::finish_first(u32 qpn, ResponderQueue& q) {
  if (!q.first->repeats) reads_finished_[qpn].add(now());
  if (q.first->kind == OutcomeKind::Atomic && !q.first->repeats && !--q.atomics)
    parked_.note_due(qpn, q);
  if (q.reading == q.first) q.reading = nullptr;
  drop_first(qpn, q);
  wake_at(now() + 1);
}

void Outcomes::finish_not_saved(u32 qpn, ResponderQueue& q) {
  ++counters_.not_saved;
  counts_.add(contexts_.qps[qpn], RequestCause::NotSaved);
  finish_first(qpn, q);
}

void Outcomes::forget(ResponderQueue& q) {
  q.reading = nullptr;
  while (q.first) {
    Outcome* const o = q.first;
    q.first = o->next;
    end_access(*o);
    Pool<Outcome>::give_back(o);
    --in_flight_;
  }
  wake_at(now() + 1);  // others may wait for its places
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
// READ and ATOMIC: outcomes that may begin; from a READ to its response packets. ATOMICs are in
// responder_atomics.cpp.
#include <algorithm>
#include <utility>

#include "model/blocks/receive/responder_execute/responder_execute.h"
#include "model/proto/transport/reply_rules.h"

namespace hca::blocks {
using namespace proto;

// The outcome that may begin: the first of its queue pair, or a new READ right behind one whose
// packets are all asked for. Their data come in the order in which they are asked for.
Outcome* ResponderExecute::next_to_begin(const Queue& q) {
  if (!q.first || !q.first->started) return q.first;
  if (q.flushing) return nullptr;
  if (!q.reading || q.reading->asked < q.reading->effect.packets) return nullptr;
  Outcome* const next = q.reading->next;
  return next && next->kind == OutcomeKind::Read && !next->repeats ? next : nullptr;
}

// Begins a READ or ATOMIC; in Error it is the first and over at once.
void ResponderExecute::begin(u32 qpn, Queue& q, Outcome& o) {
  const QpConfig& qp = contexts_.qps[qpn];
  if (q.flushing) return finish_first(qpn, q);
  o.started = true;
  q.congested |= o.congested;
  if (o.kind == OutcomeKind::Atomic) return atomics_.push(qpn);
  if (o.repeats && !may_repeat_read(q.saved, o.effect, qp, o.key_good)) {
    count_not_saved(qp);
    return finish_first(qpn, q);
  }
  ++counters.reads, counters.repeated += o.repeats;
  if (!o.repeats) q.saved.save(qp.max_dest_rd_atomic, o.effect, Operation::ReadRequest, 0);
  q.reading = &o;
  sides[port_of(qp)].reads.push(qpn);
}

void ResponderExecute::finish_first(u32 qpn, Queue& q) {
  if (!q.first->repeats) reads_finished[qpn].add(now());
  if (q.first->kind == OutcomeKind::Atomic && !q.first->repeats && !--q.atomics)
    unpark_later(qpn, q);
  if (q.reading == q.first) q.reading = nullptr;
  drop_first(qpn, q);
  wake_at(now() + 1);
}

void ResponderExecute::wait_for_interval(Side& side) {
  counters.waits_read_interval += side.next_read - std::max(now(), side.read_counted);
  side.read_counted = side.next_read;
  wake_at(side.next_read);
}

// Where the response packets of a queue pair have their room.
engine::Budget& ResponderExecute::responses_of(Side& side, u32 qpn) {
  if (!side.by_lane) [[likely]]
    return side.responses;
  return side.of_lanes[lane_of_sl_[contexts_.qps[qpn].service_level]];
}

// Of the first of the READs whose lane has a buffer, which is the next then.
bool ResponderExecute::has_response(Side& side) {
  if (!side.by_lane) [[likely]]
    return side.responses.available();
  for (std::size_t passed = 0; passed < side.reads.size(); ++passed) {
    const u32 qpn = side.reads.front();
    if (qpn == kRest || responses_of(side, qpn).available()) return true;
    side.reads.push(side.reads.pop());
  }
  return false;
}

// Asks for the data of one response packet of a port that has READs; the queue pairs take turns.
bool ResponderExecute::ask_response(Side& side) {
  if (!ports.reads_out->can_push()) return false;
  if (side.rest.packet) [[unlikely]]
    return ask_rest(side.rest), true;
  if (!has_response(side)) return false;
  Ring<u32>& reads = side.reads;
  const u32 qpn = reads.front();
  if (qpn == kRest) [[unlikely]]
    return reads.drop(), true;
  Queue& q = queues_[qpn];
  const bool here = &side_of(qpn) == &side;  // it was not reset meanwhile
  const bool asks = here && q.reading && q.reading->asked < q.reading->effect.packets;
  const bool begins = asks && !q.reading->asked;
  if (begins && now() < side.next_read) return wait_for_interval(side), false;
  if (begins) side.next_read = now() + config_.read_interval;
  reads.drop();
  if (asks) {
    Outcome& o = *q.reading;
    const ReadResponsePlan plan = plan_read_response(contexts_.qps[qpn], o.effect, o.asked);
    Packet* p = make_response(contexts_.qps[qpn], o, *plan.row, plan.psn, plan.bytes, 0);
    if (o.pages && plan.bytes) [[unlikely]]
      ask_pages(side, o, plan, p);
    else
      ports.reads_out->start().set_read(o.address + plan.offset, p->payload(), plan.bytes, p, true);
    if (++o.asked < o.effect.packets)
      reads.push(qpn);
    else
      list(qpn, q), wake_at(now() + 1);
  }
  return true;
}

// By the pages that its region had when the READ was judged. A page is no smaller than a packet:
// what lies behind the end of one is asked for a cycle later.
[[gnu::noinline]] void ResponderExecute::ask_pages(Side& side, const Outcome& o,
                                                   const ReadResponsePlan& plan, Packet* p) {
  const Region& region = o.pages->region;
  const u64 va = o.effect.va + plan.offset;
  const Run run = run_of(&region, o.effect.rkey, va, plan.bytes);
  const u32 left = plan.bytes - run.bytes;
  ports.reads_out->start().set_read(run.address, p->payload(), run.bytes, p, !left);
  if (!left) return;
  side.rest = {p, run_of(&region, o.effect.rkey, va + run.bytes, left), run.bytes};
  side.reads.push(kRest);
}

void ResponderExecute::ask_rest(Rest& rest) {
  Packet* const p = std::exchange(rest.packet, nullptr);
  ports.reads_out->start().set_read(rest.run.address, p->payload() + rest.offset, rest.run.bytes, p,
                                    true);
}

// The headers of a response packet; room for it is taken.
Packet* ResponderExecute::make_response(const QpConfig& qp, const Outcome& o, const OpcodeRow& row,
                                        u32 psn, u32 bytes, u64 original) {
  const unsigned port = port_of(qp);
  engine::Budget& responses = responses_of(sides[port], qp.qpn);
  responses.take();
  Packet* p = pool_.take();
  p->qpn = qp.qpn, p->psn = psn, p->port = u8(port), p->is_request = false;
  p->buffers = &responses;
  p->life = queues_[qp.qpn].life;
  ExtHeaders ext;
  ext.aeth = {o.reply.syndrome, o.reply.msn};
  ext.atomic_ack_eth = {original};
  const Bth bth = reply_bth(qp, psn, takes_becn(queues_[qp.qpn].congested));
  write_headers(qp.path, row, bth, ext, bytes, p->frame());
  p->shape = shape_of(qp.path, row, bytes);
  return p;
}

Dma::Client ResponderExecute::read_client() {
  return {this, [](void* owner, const DmaRequest& r, Cycle first, Cycle last) {
            auto& x = *static_cast<ResponderExecute*>(owner);
            // Else the rest is to come.
            if (r.notify) x.response_arrived(static_cast<Packet*>(r.context), first, last);
          }};
}

// In the cycle of the memory access.
void ResponderExecute::response_arrived(Packet* p, Cycle first, Cycle last) {
  Side& side = sides[p->port];
  const Cycle at = side.timing.release(first, last, p->shape.payload_bytes), now = dma.now();
  p->first = first, p->last = last;
  side.last_response = std::max({at, side.last_response, now + 1});
  p->insert_icrc(network_crcs_);
  side.responses_in.push(p, 1, side.last_response - now - 1);
}

void ResponderExecute::forward_response(Side& side) {
  if (!side.replies_out->can_push()) return;
  Packet* p = side.responses_in.pop();
  const u32 qpn = p->qpn;
  Queue& q = queues_[qpn];
  if (p->life != q.life) {  // of a queue pair that was reset
    p->buffers->give(now() + 1);
    return PacketPool::give_back(p);
  }
  if (q.flushing) {
    p->buffers->give(now() + 1);
    PacketPool::give_back(p);
  } else {
    side.replies_out->push(Reply{.qpn = qpn, .psn = p->psn, .packet = p});
    probe.event(now() + 1, Step::Completed, qpn, p->psn);
  }
  const Outcome& o = *q.first;
  if (++q.first->answered != o.effect.packets) return;
  if (!q.flushing)
    note_told(q.told, psn_add(o.effect.ack_psn, o.effect.packets - 1), o.reply.msn,
              o.reply.syndrome, o.consumed);
  finish_first(qpn, q);
}
}  // namespace hca::blocks

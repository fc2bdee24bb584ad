// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/read_responses.h"

#include <algorithm>
#include <utility>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

void ReadResponses::begin(u32 qpn, ResponderQueue& q, Outcome& o) {
  const QpConfig& qp = contexts_.qps[qpn];
  if (o.repeats && !may_repeat_read(q.saved, o.effect, o.opcode->operation, qp, o.key_good))
    return outcomes_.finish_not_saved(qpn, q);
  ++counters_.reads;
  counters_.repeated += o.repeats;
  if (!o.repeats) q.saved.save(qp.max_dest_rd_atomic, o.effect, o.opcode->operation, 0);
  q.reading = &o;
  by_port_[port_of(qp)].reads.push(qpn);
}

void ReadResponses::wait_for_interval(OfPort& port) {
  counters_.waits_read_interval += port.next_read - std::max(now(), port.read_counted);
  port.read_counted = port.next_read;
  wake_at(port.next_read);
}

// Checks the buffer of the next READ. With a budget per lane, the first READ whose lane has a
// buffer becomes the next one.
bool ReadResponses::has_buffer(unsigned number) {
  ResponderPort& port = ports_[number];
  if (!port.by_lane) [[likely]]
    return port.responses.available();
  Ring<u32>& reads = by_port_[number].reads;
  for (std::size_t passed = 0; passed < reads.size(); ++passed) {
    const u32 qpn = reads.front();
    if (qpn == kRest || responses_.buffers_of(port, qpn).available()) return true;
    reads.push(reads.pop());
  }
  return false;
}

bool ReadResponses::ask(unsigned number) {
  OfPort& port = by_port_[number];
  if (!outputs_.reads_out->can_push()) return false;
  if (port.rest.packet) [[unlikely]] {
    ask_rest(port.rest);
    return true;
  }
  if (!has_buffer(number)) return false;
  const u32 qpn = port.reads.front();
  if (qpn == kRest) [[unlikely]] {
    port.reads.drop();
    return true;
  }
  ResponderQueue& q = queues_[qpn];
  // False: the queue pair was reset meanwhile, or migrated.
  const bool here = ports_.number_of(qpn) == number;
  const bool asks = here && q.reading && q.reading->asked < q.reading->effect.packets;
  const bool begins = asks && !q.reading->asked;
  if (begins && now() < port.next_read) {
    wait_for_interval(port);
    return false;
  }
  if (begins) port.next_read = now() + config_.read_interval;
  port.reads.drop();
  if (!here && q.reading && contexts_.qps[qpn].has_moved)
    by_port_[ports_.number_of(qpn)].reads.push(qpn);
  if (asks) ask_packet(port, qpn, q);
  return true;
}

inline void ReadResponses::ask_packet(OfPort& port, u32 qpn, ResponderQueue& q) {
  Outcome& o = *q.reading;
  const ReadResponsePlan plan = plan_read_response(contexts_.qps[qpn], o.effect, o.asked);
  Packet* p = responses_.make(contexts_.qps[qpn], o, *plan.row, plan.psn, plan.bytes, 0);
  if (o.pages && plan.bytes) [[unlikely]]
    ask_pages(port, o, plan, p);
  else
    outputs_.reads_out->start().set_read(o.address + plan.offset,
                                         p->piece(p->shape.payload_offset, plan.bytes), p, true);
  if (++o.asked < o.effect.packets) {
    port.reads.push(qpn);
  } else {
    outcomes_.list(qpn, q);
    wake_at(now() + 1);
  }
}

// Reads by the pages that the region had when the READ was judged. A page is no smaller than a
// packet: the rest after the end of a page is requested a cycle later.
[[gnu::noinline]] void ReadResponses::ask_pages(OfPort& port, const Outcome& o,
                                                const ReadResponsePlan& plan, Packet* p) {
  const Region& region = o.pages->region;
  const u64 va = o.effect.va + plan.offset;
  const Run run = run_of(&region, o.effect.rkey, va, plan.bytes);
  const u32 left = plan.bytes - run.bytes;
  outputs_.reads_out->start().set_read(run.address, p->piece(p->shape.payload_offset, run.bytes), p,
                                       !left);
  if (!left) return;
  port.rest = {p, run_of(&region, o.effect.rkey, va + run.bytes, left), run.bytes};
  port.reads.push(kRest);
}

void ReadResponses::ask_rest(Rest& rest) {
  Packet* const p = std::exchange(rest.packet, nullptr);
  outputs_.reads_out->start().set_read(
      rest.run.address, p->piece(p->shape.payload_offset + rest.offset, rest.run.bytes), p, true);
}

DmaCallbacks ReadResponses::client() {
  return {this, [](void* part, const DmaRequest& r, Cycle first, Cycle last) {
            auto& x = *static_cast<ReadResponses*>(part);
            if (r.failed) [[unlikely]]
              static_cast<Packet*>(r.context)->unread = true;
            // Otherwise the rest is still to come.
            if (r.notify) x.arrived(static_cast<Packet*>(r.context), first, last);
          }};
}

// Called in the cycle of the memory access.
void ReadResponses::arrived(Packet* p, Cycle first, Cycle last) {
  OfPort& port = by_port_[p->port];
  const Cycle at = port.timing.release(first, last, p->shape.payload_bytes), now = this->now();
  p->first = first;
  p->last = last;
  port.last_response = std::max({at, port.last_response, now + 1});
  responses_.insert_icrc(*p);
  ports_[p->port].responses_in.push(p, 1, port.last_response - now - 1);
}

namespace {
// The READ of the next response packet. READs that ended without an answer stand before it.
Outcome& answered_by(const ResponderQueue& q) {
  Outcome* o = q.first;
  while (o->answered == o->effect.packets && o->next) [[unlikely]] o = o->next;
  return *o;
}
}  // namespace

// T10-17, class A without a receive WQE: the NAK takes the place of the response whose data are
// missing. Nothing after it is answered.
void ReadResponses::refuse_unread(const Packet& p, ResponderQueue& q) {
  const Outcome& o = *q.first;
  const QpConfig& qp = contexts_.qps[p.qpn];
  const u32 msn = psn_sub(o.reply.msn, !o.repeats);  // G5.3
  ++counters_.failed;
  counts_.add(qp, kUnreadableMemory.cause);
  q.failed = q.unread = true;
  ports_[p.port].replies_out->push(
      Reply{.qpn = p.qpn,
            .psn = p.psn,
            .msn = msn,
            .syndrome = answer_syndrome(kUnreadableMemory, o.effect, qp)});
  outputs_.faults_out->push(Fault{.qpn = p.qpn,
                                  .raise = true,
                                  .event = EventType::QpFatal,
                                  .part = EventPart::OutboundResponse,
                                  .refused = true,
                                  .rolls_back = !o.repeats,
                                  .psn = p.psn,
                                  .msn = msn});
}

void ReadResponses::forward(unsigned number) {
  ResponderPort& port = ports_[number];
  if (!port.replies_out->can_push()) return;
  if (port.responses_in.front()->unread && !outputs_.faults_out->can_push()) [[unlikely]]
    return;
  Packet* p = port.responses_in.pop();
  const u32 qpn = p->qpn;
  ResponderQueue& q = queues_[qpn];
  if (p->life != q.life) {  // its queue pair was reset
    p->give_buffer(now() + 1);
    return PacketPool::give_back(p);
  }
  if (p->unread && !q.flushing && !q.unread) refuse_unread(*p, q);
  if (q.flushing || q.unread) {
    p->give_buffer(now() + 1);
    PacketPool::give_back(p);
  } else {
    port.replies_out->push(Reply{.qpn = qpn, .psn = p->psn, .packet = p});
    probe_.event(now() + 1, Step::Completed, qpn, p->psn);
  }
  Outcome& o = answered_by(q);
  if (++o.answered != o.effect.packets) return;
  if (q.unread && !q.flushing) [[unlikely]]
    return;  // it ends with its queue pair's Error
  if (!q.flushing)
    note_told(q.told, psn_add(o.effect.ack_psn, o.effect.packets - 1), o.reply.msn,
              o.reply.syndrome, o.consumed);
  outcomes_.finish_first(qpn, q);
}
}  // namespace hca::blocks

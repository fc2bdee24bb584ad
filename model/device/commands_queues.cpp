// SPDX-License-Identifier: Apache-2.0
// Completion queues, event queues and the interrupt vectors of event queues.
#include "model/device/command_call.h"

namespace hca::device {
using namespace proto;

namespace {
EventRing ring_of(const QueueAttributes& a) {
  EventRing ring;
  ring.allocated = true;
  ring.address = a.address;
  ring.log_entries = a.log_entries;
  ring.eqn = a.eqn;
  ring.vector = a.vector;
  ring.context = a.context;
  ring.event_count = a.event_count;
  ring.event_period = a.event_period;
  return ring;
}

CommandStatus query_ring(Call& c, const EventRing* ring) {
  if (!ring) return CommandStatus::BadObject;
  QueueAttributes a;
  a.address = ring->address;
  a.log_entries = ring->log_entries;
  a.eqn = ring->eqn;
  a.vector = ring->vector;
  a.context = ring->context;
  a.armed = ring->armed;
  a.overflowed = ring->overflowed;
  a.producer = ring->producer;
  a.consumer = ring->consumer;
  a.uses = ring->uses;
  a.event_count = ring->event_count;
  a.event_period = ring->event_period;
  encode(a, c.body);
  return CommandStatus::Ok;
}

// More CQEs than there are entries would never raise an event.
bool can_count(const EventRing& cq) { return cq.event_count <= cq.entries(); }
}  // namespace

CommandStatus create_cq(Call& c) {
  const auto a = decode<QueueAttributes>(c.body);
  const u32 cqn = c.header.object;
  if (cqn >= c.contexts.limits.cqs) return CommandStatus::NoResources;
  if (c.contexts.needs_context_memory && !c.contexts.context_memory) return CommandStatus::BadState;
  EventRing* eq = a.eqn ? c.contexts.find_eq(a.eqn) : nullptr;
  if (c.contexts.find_cq(cqn) || (a.eqn && !eq)) return CommandStatus::BadObject;
  if (a.log_entries > kMaxLogQueueEntries || a.context & 1 || !can_count(ring_of(a)))
    return CommandStatus::BadValue;
  at(c.contexts.cqs, cqn) = ring_of(a);
  if (eq) ++eq->uses;
  return CommandStatus::Ok;
}

CommandStatus query_cq(Call& c) { return query_ring(c, c.contexts.find_cq(c.header.object)); }

// CQ-20. CQEs on their way to memory keep their place in the old ring. Moderation begins anew.
CommandStatus modify_cq(Call& c) {
  const auto a = decode<QueueAttributes>(c.body);
  EventRing* cq = c.contexts.find_cq(c.header.object);
  if (!cq) return CommandStatus::BadObject;
  if (cq->overflowed) return CommandStatus::BadState;
  if (a.mask & ~(kCqRing | kCqModeration)) return CommandStatus::BadValue;
  EventRing changed = *cq;
  if (a.mask & kCqRing) {
    if (a.log_entries > kMaxLogQueueEntries) return CommandStatus::BadValue;
    changed.address = a.address;
    changed.log_entries = a.log_entries;
    const bool too_small = cq->producer - cq->consumer > changed.entries();
    if (too_small) return CommandStatus::BadValue;
  }
  if (a.mask & kCqModeration) {
    changed.event_count = a.event_count;
    changed.event_period = a.event_period;
    changed.event_due = 0;
  }
  if (!can_count(changed)) return CommandStatus::BadValue;
  *cq = changed;
  c.effect.takes_away = a.mask & kCqRing;
  c.effect.cqn = c.header.object;
  return query_ring(c, cq);
}

CommandStatus destroy_cq(Call& c) {
  EventRing* cq = c.contexts.find_cq(c.header.object);
  if (!cq) return CommandStatus::BadObject;
  if (cq->uses) return CommandStatus::Busy;
  if (cq->eqn) --c.contexts.eqs[cq->eqn].uses;
  *cq = {};
  c.effect.takes_away = true;
  c.effect.cqn = c.header.object;
  return CommandStatus::Ok;
}

CommandStatus create_eq(Call& c) {
  const auto a = decode<QueueAttributes>(c.body);
  const u32 eqn = c.header.object;
  if (eqn >= c.contexts.limits.eqs) return CommandStatus::NoResources;
  if (c.contexts.find_eq(eqn) || a.vector >= c.contexts.limits.vectors)
    return CommandStatus::BadObject;
  if (a.log_entries > kMaxLogQueueEntries || a.eqn || a.event_count || a.event_period)
    return CommandStatus::BadValue;
  at(c.contexts.eqs, eqn) = ring_of(a);
  return CommandStatus::Ok;
}

CommandStatus query_eq(Call& c) { return query_ring(c, c.contexts.find_eq(c.header.object)); }

CommandStatus destroy_eq(Call& c) {
  EventRing* eq = c.contexts.find_eq(c.header.object);
  if (!eq) return CommandStatus::BadObject;
  if (eq->uses) return CommandStatus::Busy;
  *eq = {};
  c.effect.takes_away = true;
  return CommandStatus::Ok;
}

// ---- Vectors: each exists, without an address and masked, from the start.
CommandStatus set_vector(Call& c) {
  if (c.header.object >= c.contexts.vectors.size()) return CommandStatus::BadObject;
  const auto a = decode<VectorAttributes>(c.body);
  if (a.address % kMessageBytes) return CommandStatus::BadValue;
  VectorAttributes& v = c.contexts.vectors[c.header.object];
  const bool pending = v.pending;
  v = a;
  v.pending = pending && a.masked;
  c.effect.message = pending && !a.masked;
  c.effect.vector = u16(c.header.object);
  return CommandStatus::Ok;
}

CommandStatus query_vector(Call& c) {
  if (c.header.object >= c.contexts.vectors.size()) return CommandStatus::BadObject;
  encode(c.contexts.vectors[c.header.object], c.body);
  return CommandStatus::Ok;
}
}  // namespace hca::device

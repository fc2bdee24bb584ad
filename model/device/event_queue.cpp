// SPDX-License-Identifier: Apache-2.0
#include "model/device/event_queue.h"

#include <utility>

namespace hca::device {
using namespace proto;

namespace {
u64 context_of(const Contexts& contexts, const proto::Event& event) {
  const EventRow* row = async_event(event.type);
  if (!row) return 0;
  switch (row->object) {
    case EventObject::Cq:
      return contexts.cqs[event.object].context;
    case EventObject::Srq:
      return contexts.srqs[event.object].context;
    case EventObject::Eec:
      return contexts.ee_contexts[event.object].context;
    case EventObject::Port:
    case EventObject::Device:
      return 0;
    default:
      return contexts.qp_contexts[event.object];
  }
}
}  // namespace

std::optional<u64> put_event(const Contexts& contexts, const EventRings& eqs, u32 eqn,
                             const proto::Event& event, u8* eqe) {
  EventRing* eq = eqs.find(eqn);
  if (!eq) return std::nullopt;
  if (eq->is_full()) {
    eq->overflowed = true;
    return std::nullopt;
  }
  encode_event(event, context_of(contexts, event), eq->phase(),
               std::exchange(eq->overflowed, false), contexts.options.driver_events, eqe);
  const u64 address = eq->slot(kEqeBytes);
  ++eq->producer;
  return address;
}

std::optional<u16> take_interrupt(const EventRings& eqs, const Vectors& vectors, u32 eqn) {
  EventRing& eq = eqs[eqn];
  if (std::exchange(eq.armed, Arm::None) == Arm::None) return std::nullopt;
  VectorAttributes& vector = vectors[eq.vector];
  if (!vector.masked) return eq.vector;
  vector.pending = true;
  return std::nullopt;
}

std::optional<u16> ring_eq(const EventRings& eqs, const Vectors& vectors, const EqDoorbell& bell) {
  EventRing* eq = eqs.find(bell.eqn);
  if (!eq) return std::nullopt;
  eq->consumer = bell.consumer;
  if (bell.arm) eq->armed = Arm::Next;
  return eq->producer == eq->consumer ? std::nullopt : take_interrupt(eqs, vectors, bell.eqn);
}

namespace {
// The event of a CQ that is armed and has a CQE for it, if moderation lets it go.
bool take_event(EventRing& cq, const CqTime& time) {
  const bool moderated = cq.armed == Arm::Next && (cq.event_count || cq.event_period);
  const bool enough = cq.event_count && cq.written - cq.consumer >= cq.event_count;
  const bool late = cq.event_due && cq.event_due <= time.now;
  if (moderated && !enough && !late) {
    if (cq.event_period && !cq.event_due) cq.event_due = time.now + time.period;
    return false;
  }
  cq.event_due = 0;
  cq.armed = Arm::None;
  return true;
}
}  // namespace

bool count_cqe(EventRing& cq, bool solicited, const CqTime& time) {
  ++cq.written;
  if (solicited) cq.solicited = cq.written;
  if (cq.armed == Arm::None || (cq.armed == Arm::Solicited && !solicited)) return false;
  return take_event(cq, time);
}

bool take_armed(const CompletionRings& cqs, u32 cqn, const CqTime& time) {
  EventRing* cq = cqs.find(cqn);
  if (!cq || !cq->eqn || cq->armed == Arm::None) return false;
  const u32 newest = cq->armed == Arm::Next ? cq->written : cq->solicited;
  if (s32(newest - cq->consumer) > 0) return take_event(*cq, time);
  cq->event_due = 0;  // they are taken
  return false;
}

bool ring_cq(const CompletionRings& cqs, const CqDoorbell& bell) {
  EventRing* cq = cqs.find(bell.cqn);
  if (!cq) return false;
  cq->consumer = bell.consumer;
  if (bell.arm == Arm::Next || (bell.arm == Arm::Solicited && cq->armed == Arm::None))
    cq->armed = bell.arm;
  return true;
}
}  // namespace hca::device

// SPDX-License-Identifier: Apache-2.0
// The reactions of host software to asynchronous events (AEQ-1 to AEQ-16).
#include <algorithm>

#include "testbench/host/verbs.h"

namespace hca::testbench {
using proto::EventObject;
using proto::EventPart;

namespace {
// The object is that of the code (AEQ-7); a code that is not known has that of its source (AEQ-6).
std::optional<EventObject> object_of(const proto::EventRow* row, EventPart part) {
  if (row) return row->object;
  if (proto::is_of_queue_pair(part)) return EventObject::Qp;
  return std::nullopt;
}
bool is_of_draining(proto::EventType type) {
  return type == proto::EventType::SqDrained || type == proto::EventType::QpSuspended;
}
}  // namespace

std::optional<AsyncEvent> VerbsContext::take_async(CompChannel& channel) {
  std::array<u8, proto::kEqeBytes> eqe;
  if (!take_eqe(channel, eqe)) return std::nullopt;
  const proto::Aeqe entry = proto::decode_aeqe(eqe.data());
  const proto::EventRow* row = proto::async_event_of_code(entry.code);
  AsyncEvent event{row ? row->type : proto::EventType::Completion, entry.object()};
  event.part = proto::kEventSources[entry.source];
  event.code = entry.code;
  event.wqe_index = entry.wqe_index;
  event.events_lost = entry.overflow;
  event.entry = entry;
  const bool of_cq = row ? row->object == EventObject::Cq : event.part == EventPart::Cq;
  event.context = entry.context << of_cq;
  return event;
}

u32 VerbsContext::dispatch_async_events(CompChannel& channel, const AsyncCallbacks& callbacks) {
  u32 taken = 0;
  for (; const auto event = take_async(channel); ++taken) react(*event, callbacks);
  return taken;
}

void VerbsContext::react(const AsyncEvent& event, const AsyncCallbacks& callbacks) {
  const proto::EventRow* row = proto::async_event_of_code(event.code);
  const auto object = object_of(row, event.part);
  if (!object) return;  // AEQ-8
  const auto call = [&](const auto& callback, auto* found) {
    if (found && callback) callback(*found, event);  // AEQ-9, AEQ-11: skipped if it is gone
  };
  const auto in = [&](auto& all, auto number) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one.*number == event.element && !one.destroyed;
    });
    return at == all.end() ? nullptr : &*at;
  };
  switch (*object) {
    case EventObject::Qp: {
      Qp* const qp = find_qp(event.element);
      if (qp && !is_of_draining(event.type)) qp->last_event_code = event.code;
      if (row) call(callbacks.qp, qp);  // AEQ-13
      return;
    }
    case EventObject::Cq:
      return call(callbacks.cq, in(cqs_, &Cq::cqn));
    case EventObject::Srq:
      return call(callbacks.srq, in(srqs_, &Srq::srqn));
    case EventObject::Device:
    case EventObject::Port:
      if (callbacks.port) callbacks.port(event.element, event);
      return;
    case EventObject::Eec:
      if (callbacks.eec) callbacks.eec(event.element, event);
      return;
  }
}
}  // namespace hca::testbench

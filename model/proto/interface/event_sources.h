// SPDX-License-Identifier: Apache-2.0
// T17: the meaning of the source of an asynchronous event.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
// The part of a queue pair that an event concerns, or a CQ. Nothing: the source names no object.
enum class EventPart : u8 {
  Nothing,
  ReceiveQueue,
  SendQueue,
  InboundRequest,
  OutboundResponse,
  Cq
};

// By source code.
inline constexpr std::array kEventSources{
    EventPart::Nothing, EventPart::ReceiveQueue,     EventPart::Cq, EventPart::ReceiveQueue,
    EventPart::Nothing, EventPart::SendQueue,        EventPart::Cq, EventPart::SendQueue,
    EventPart::Nothing, EventPart::InboundRequest,   EventPart::Cq, EventPart::InboundRequest,
    EventPart::Nothing, EventPart::OutboundResponse, EventPart::Cq, EventPart::OutboundResponse};
static_assert(kEventSources.size() == 16);  // the field has four bits

// The lowest source of a part.
constexpr u8 source_of(EventPart part) {
  u8 source = 0;
  while (kEventSources[source] != part) ++source;
  return source;
}
static_assert(source_of(EventPart::SendQueue) == 0x5);
static_assert(source_of(EventPart::OutboundResponse) == 0xd);

constexpr bool is_of_queue_pair(EventPart part) {
  return part != EventPart::Nothing && part != EventPart::Cq;
}
}  // namespace hca::proto

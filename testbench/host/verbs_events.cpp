// SPDX-License-Identifier: Apache-2.0
// Event queues and interrupts of the verbs.
#include <algorithm>
#include <bit>

#include "testbench/host/verbs.h"

namespace hca::testbench {
using proto::CommandOpcode;
using proto::CommandStatus;

namespace {
constexpr u32 kMessage = 1;  // what a vector writes; 0: nothing came since it was last looked at
}  // namespace

CompChannel* VerbsContext::create_eq(u32 eqn, u32 entries) {
  CompChannel channel;
  channel.eqn = eqn;
  channel.vector = u16(eqn);
  channel.log_entries = u8(std::bit_width(std::max(entries, 2u) - 1));
  channel.address = alloc(u64{channel.entries()} * proto::kEqeBytes);
  channel.message = alloc(proto::kMessageBytes);
  const proto::QueueAttributes attributes{
      .address = channel.address, .log_entries = channel.log_entries, .vector = channel.vector};
  if (execute(CommandOpcode::CreateEq, eqn, attributes) != CommandStatus::Ok) return nullptr;
  if (set_vector(channel, false) != Error::None) return nullptr;
  ring_eq(channel, true);
  return &channels_.emplace_back(channel);
}

Error VerbsContext::destroy_comp_channel(const CompChannel& channel) {
  return error_of(execute(CommandOpcode::DestroyEq, channel.eqn));
}

proto::QueueAttributes VerbsContext::query_eq(const CompChannel& channel) {
  return query<proto::QueueAttributes>(CommandOpcode::QueryEq, channel.eqn);
}

Error VerbsContext::set_vector(const CompChannel& channel, bool masked) {
  return error_of(execute(CommandOpcode::SetVector, channel.vector,
                          proto::VectorAttributes{channel.message, kMessage, masked}));
}

proto::VectorAttributes VerbsContext::query_vector(const CompChannel& channel) {
  return query<proto::VectorAttributes>(CommandOpcode::QueryVector, channel.vector);
}

bool VerbsContext::take_eqe(CompChannel& channel, std::array<u8, proto::kEqeBytes>& eqe) {
  const u32 slot = channel.consumer & (channel.entries() - 1);
  memory_.read(channel.address + u64{slot} * proto::kEqeBytes, eqe.data(), eqe.size());
  const bool wanted = !(channel.consumer >> channel.log_entries & 1);
  if (proto::phase_of_eqe(channel.eqn, eqe.data()) != wanted) {
    ring_eq(channel, true);
    return false;
  }
  ++channel.consumer;
  if (channel.consumer % std::max(channel.entries() / 4, 1u) == 0) ring_eq(channel, false);
  return true;
}

std::optional<u32> VerbsContext::get_cq_event(CompChannel& channel) {
  std::array<u8, proto::kEqeBytes> eqe;
  if (!take_eqe(channel, eqe)) return std::nullopt;
  const u32 cqn = proto::decode<proto::Eqe>(eqe.data()).cqn;
  for (Cq& cq : cqs_)
    if (cq.cqn == cqn) cq.armed = proto::Arm::None;
  return cqn;
}

std::optional<AsyncEvent> VerbsContext::get_async_event(CompChannel& channel) {
  const auto event = take_async(channel);
  return event && proto::async_event_of_code(event->code) ? event : std::nullopt;
}

bool VerbsContext::take_interrupt(const CompChannel& channel) {
  u32 message = 0;
  memory_.read(channel.message, &message, sizeof message);
  memory_.fill(channel.message, 0, sizeof message);
  return message == kMessage;
}

bool VerbsContext::wait_interrupt(const CompChannel& channel) {
  while (!take_interrupt(channel))
    if (!step_ || !step_()) return take_interrupt(channel);
  return true;
}

void VerbsContext::ring_eq(const CompChannel& channel, bool arm) {
  std::array<u8, 8> bell;
  proto::encode(proto::EqDoorbell{arm, channel.eqn, channel.consumer}, bell.data());
  mmio_write_(u32(proto::BarOffset::EqDoorbell), bell);
}
}  // namespace hca::testbench

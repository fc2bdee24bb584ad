// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion/event.h"

namespace hca::blocks {
void Event::tick() {
  if (bells_in.can_pop()) notify(ring_eq(eqs_, vectors_, bells_in.pop()));
  if (!messages_.empty()) {
    if (!buffers.available() || !outputs.dma_out->can_push()) return;
    return send_message();
  }
  if (!events_in[0].can_pop() && !events_in[1].can_pop()) return;
  if (now() < next_) return wake_at(next_);
  if (!buffers.available() || !outputs.dma_out->can_push()) return;
  next_ = now() + config_.interval;
  EventLink& link = events_in[events_in[0].can_pop() ? 0 : 1];
  take(link.pop());
  if (events_in[0].can_pop() || events_in[1].can_pop()) wake_at(next_);
}

void Event::take(const EventNote& note) {
  if (note.message) return notify(note.vector);
  std::array<u8, proto::kEqeBytes> eqe;
  const std::optional<u64> address = put_event(contexts_, eqs_, note.eqn, note.event, eqe.data());
  if (!address) return void(++counters.lost);
  push(*address, eqe, proto::kEqeBytes);
  ++counters.eqes;
  probe.event(now() + config_.latency, Step::Passed, note.event.object, u64(note.event.type));
  notify(take_interrupt(eqs_, vectors_, note.eqn));
}

void Event::notify(std::optional<u16> vector) {
  if (!vector) return;
  messages_.push(*vector);
  wake_at(now() + 1);
}

void Event::send_message() {
  std::array<u8, proto::kEqeBytes> message{};
  const u16 number = messages_.pop();
  const proto::VectorAttributes& vector = contexts_.vectors[number];
  device::encode_message(vector, message.data());
  push(vector.address, message, proto::kMessageBytes);
  ++counters.messages;
  probe.event(now() + config_.latency, Step::Completed, number);
  wake_at(now() + 1);
}

void Event::push(u64 address, const std::array<u8, proto::kEqeBytes>& bytes, u32 count) {
  auto& buffer = eqes_[used_++ % kBuffers];
  buffer = bytes;
  buffers.take();
  const Cycle leaves = now() + config_.latency;
  outputs.dma_out->start(1, config_.latency - 1)
      .set_write(address, buffer.data(), count, nullptr, false, leaves, leaves);
}
}  // namespace hca::blocks

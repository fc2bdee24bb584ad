// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion/event.h"

namespace hca::blocks {
void Event::tick() {
  if (is_fatal_) [[unlikely]]
    tell_fatal();
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
  push(*address, eqe, proto::kEqeBytes, note.eqn);
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
  push(vector.address, message, proto::kMessageBytes, kNoEq);
  ++counters.messages;
  probe.event(now() + config_.latency, Step::Completed, number);
  wake_at(now() + 1);
}

// No queue pair is to blame (ERR-18). Without the asynchronous queue nothing can be told.
[[gnu::cold]] void Event::lost(const DmaRequest& write) {
  const u32 slot = u32((write.buffer - eqes_[0].data()) / proto::kEqeBytes);
  if (eqn_of_[slot] == proto::kAsyncEq) return;
  is_fatal_ = true;
  self.wake(dma.now() + 1);
}

[[gnu::cold]] void Event::tell_fatal() {
  if (!outputs.faults_out->can_push()) return;
  is_fatal_ = false;
  outputs.faults_out->push(
      Fault{.raise = true, .event = proto::EventType::DeviceFatal, .fails = false});
}

void Event::push(u64 address, const std::array<u8, proto::kEqeBytes>& bytes, u32 count, u32 eqn) {
  eqn_of_[used_ % kBuffers] = eqn;
  auto& buffer = eqes_[used_++ % kBuffers];
  buffer = bytes;
  buffers.take();
  const Cycle leaves = now() + config_.latency;
  outputs.dma_out->start(1, config_.latency - 1)
      .set_write(address, buffer.data(), count, nullptr, false, leaves, leaves);
}
}  // namespace hca::blocks

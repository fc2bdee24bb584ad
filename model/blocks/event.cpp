// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/event.h"

namespace hca::blocks {
void Event::tick() {
  if (!events_in[0].can_pop() && !events_in[1].can_pop()) return;
  if (now() < next_) return wake_at(next_);
  if (!buffers.available() || !ports.dma_out->can_push()) return;
  next_ = now() + config_.interval;
  write(events_in[events_in[0].can_pop() ? 0 : 1].pop());
  if (events_in[0].can_pop() || events_in[1].can_pop()) wake_at(next_);
}

void Event::write(const EventNote& note) {
  if (note.eqn >= contexts_.eqs.size() || !contexts_.eqs[note.eqn].allocated)
    return void(++counters.lost);
  EventRing& eq = contexts_.eqs[note.eqn];
  auto& bytes = eqes_[used_++ % kBuffers];
  buffers.take();
  proto::Eqe eqe = note.eqe;
  eqe.phase = eq.phase();
  proto::encode(eqe, bytes.data());
  const Cycle leaves = now() + config_.latency;
  ports.dma_out->start(1, config_.latency - 1)
      .set_write(eq.slot(proto::kEqeBytes), bytes.data(), proto::kEqeBytes, nullptr, false, leaves,
                 leaves);
  ++eq.producer, ++counters.eqes;
  probe.event(now() + config_.latency, Step::Passed, note.eqe.object, u64(note.eqe.type));
}
}  // namespace hca::blocks

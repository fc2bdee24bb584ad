// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion.h"

#include <algorithm>

namespace hca::blocks {
using namespace proto;

void Completion::tick() {
  if (bells_in.can_pop()) ring(bells_in.pop());
  if (written_in.can_pop() && ports.events_out->can_push()) raise(written_in.pop());
  const bool any = completions_in[0].can_pop() || completions_in[1].can_pop();
  if (!any) return;
  if (now() < next_) return wake_at(next_);
  if (!buffers.available() || !ports.dma_out->can_push() || !ports.faults_out->can_push()) return;
  const unsigned i = completions_in[next_input_].can_pop() ? next_input_ : 1 - next_input_;
  next_input_ = 1 - i;
  next_ = now() + config_.interval;
  write(completions_in[i].pop());
  if (completions_in[0].can_pop() || completions_in[1].can_pop()) wake_at(next_);
}

void Completion::write(const Completed& c) {
  EventRing& cq = contexts_.cqs[c.cqn];
  if (cq.overflowed || cq.is_full()) return overflow(cq, c);
  const u32 slot = used_++ % kBuffers;
  buffers.take();
  Cqe cqe = c.cqe;
  cqe.phase = cq.phase();
  encode(cqe, cqes_[slot].data());
  cq_of_[slot] = c.cqn, solicits_[slot] = c.cqe.solicited || c.cqe.status != WcStatus::Success;
  const Cycle leaves = now() + config_.latency;
  ports.dma_out->start(1, config_.latency - 1)
      .set_write(cq.slot(kCqeBytes), cqes_[slot].data(), kCqeBytes, &cqes_[slot], false, leaves,
                 leaves);
  ++cq.producer, ++counters.cqes;
  probe.event(now() + config_.latency, Step::Passed, c.cqe.qpn, c.cqe.wqe_index, u64(c.cqe.opcode));
}

// G21.3: the CQ takes no more CQEs, the queue pair enters Error.
void Completion::overflow(EventRing& cq, const Completed& c) {
  ++counters.overflows;
  cq.overflowed = true;
  ports.faults_out->push(Fault{c.cqe.qpn, true, EventType::CqErr});
}

void Completion::ring(const CqDoorbell& bell) {
  if (bell.cqn >= contexts_.cqs.size() || !contexts_.cqs[bell.cqn].allocated) return;
  EventRing& cq = contexts_.cqs[bell.cqn];
  cq.consumer = bell.consumer;
  // G21.2: "solicited" may become "next", not the reverse.
  if (bell.arm == Arm::Next || (bell.arm == Arm::Solicited && cq.armed == Arm::None))
    cq.armed = bell.arm;
}

void Completion::raise(u32 slot) {
  const u32 cqn = cq_of_[slot];
  EventRing& cq = contexts_.cqs[cqn];
  if (cq.armed == Arm::None || !cq.eqn || (cq.armed == Arm::Solicited && !solicits_[slot])) return;
  cq.armed = Arm::None;
  ++counters.events;
  ports.events_out->push(EventNote{cq.eqn, {EventType::Completion, cqn, false}});
}

Dma::Client Completion::client() {
  return {this, nullptr, [](void* owner, const DmaRequest& r) {
            auto& x = *static_cast<Completion*>(owner);
            const u32 slot = u32(
                (static_cast<u8*>(static_cast<void*>(r.buffer)) - x.cqes_[0].data()) / kCqeBytes);
            x.buffers.give(x.dma.now() + 1);
            const EventRing& cq = x.contexts_.cqs[x.cq_of_[slot]];
            if (cq.armed != Arm::None && x.written_in.can_push()) x.written_in.push(slot);
          }};
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion/completion.h"

#include <algorithm>
#include <utility>

#include "model/engine/rate.h"

namespace hca::blocks {
using namespace proto;

void Completion::tick() {
  if (bells_in.can_pop() && outputs.events_out->can_push()) ring(bells_in.pop());
  if (!faults_.empty()) push_fault();
  if (written_in.can_pop() && outputs.events_out->can_push()) count(written_in.pop());
  if (!late_events_.empty()) raise_late();
  if (changed_in.can_pop() && outputs.events_out->can_push()) notify(changed_in.pop());
  if (periods_.may_be_due(now())) [[unlikely]]
    end_period();
  const bool any = completions_in[0].can_pop() || completions_in[1].can_pop();
  if (!any) return;
  if (now() < next_) return wake_at(next_);
  if (!buffers.available() || !outputs.dma_out->can_push()) return;
  const unsigned i = completions_in[next_input_].can_pop() ? next_input_ : 1 - next_input_;
  next_input_ = 1 - i;
  next_ = now() + config_.interval;
  write(completions_in[i].front());
  accesses_.end(completions_in[i].front().era);  // the CQE's own has begun
  completions_in[i].drop();
  if (completions_in[0].can_pop() || completions_in[1].can_pop()) wake_at(next_);
}

void Completion::write(const Completed& c) {
  if (c.is_event()) {
    late_events_.push({{c.event, c.cqe.qpn}, used_});
    return wake_at(now() + 1);
  }
  if (c.cqn == kNoCq) [[unlikely]]
    return;
  device::EventRing& cq = cqs_[c.cqn];
  const u32 slot = used_ % CompletionConfig::kMostBuffers;
  const CqePlace place = stand_in ? put_by(cq, c, slot) : put_cqe(cq, c.cqe, cqes_[slot].data());
  if (place.result == CqResult::NoQueue) return;  // the queue pair is gone, and its CQ
  if (place.result != CqResult::Written) return overflow(place.result, c);
  ++used_;
  buffers.take();
  cq_of_[slot] = c.cqn;
  queue_of_[slot] = c.queue;
  solicits_[slot] = is_solicited(c.cqe);
  const Cycle leaves = now() + config_.latency;
  outputs.dma_out->start(1, config_.latency - 1)
      .set_write(place.address, cqes_[slot].data(), kCqeBytes, &cqes_[slot], false, leaves, leaves);
  ++counters.cqes;
  probe.event(now() + config_.latency, Step::Passed, c.cqe.qpn, c.cqe.wqe_index, u64(c.cqe.opcode));
}

[[gnu::cold]] CqePlace Completion::put_by(device::EventRing& cq, const Completed& c, u32 slot) {
  const CqRequest request{.step = CqStep::Complete, .cqe = c.cqe};
  CqAnswer answer;
  CompletionItem item{.cqn = c.cqn, .request = &request, .cq = &cq, .answer = &answer};
  stand_in->process(item);
  cqes_[slot] = answer.bytes;
  return answer.place;
}

// The write of a CQE failed: the CQ is inaccessible, as if it had overflowed (C9-218, C9-225).
[[gnu::cold]] void Completion::lose(u32 slot) {
  device::EventRing* const cq = cqs_.find(cq_of_[slot]);
  if (!cq) return;
  Completed lost{};
  lost.cqn = cq_of_[slot];
  decode_to(cqes_[slot].data(), lost.cqe);
  lost.queue = queue_of_[slot];
  const bool told = std::exchange(cq->overflowed, true);
  overflow(told ? CqResult::Lost : CqResult::FirstLost, lost);
}

// G21.3: the CQ takes no more CQEs, the queue pair enters Error.
void Completion::overflow(CqResult result, const Completed& c) {
  ++counters.overflows;
  if (result == CqResult::FirstLost)
    faults_.push({.qpn = c.cqn, .raise = true, .event = EventType::CqErr, .fails = false});
  faults_.push({.qpn = c.cqe.qpn,
                .raise = true,
                .event = EventType::QpFatal,
                .part = part_of(c.cqe.opcode),
                .wqe_index = c.cqe.wqe_index,
                .fails = true,
                .failed_queue = c.queue});
  push_fault();
}

void Completion::push_fault() {
  if (!outputs.faults_out->can_push()) return;
  outputs.faults_out->push(faults_.pop());
  if (!faults_.empty()) outputs.faults_out->wake_when_free();
}

void Completion::raise_late() {
  const LateEvent& first = late_events_.front();
  if (s32(in_memory_.seen(now()) - first.behind) < 0 || !outputs.events_out->can_push()) return;
  outputs.events_out->push(EventNote{kAsyncEq, first.event});
  late_events_.drop();
  if (!late_events_.empty()) wake_at(now() + 1);
}

void Completion::ring(const CqDoorbell& bell) {
  if (stand_in) [[unlikely]]
    ring_by(bell);
  else
    ring_cq(cqs_, bell);
  notify(bell.cqn);
}

// The stand-in computes the room, but not the arming.
[[gnu::cold]] void Completion::ring_by(const CqDoorbell& bell) {
  device::EventRing* cq = cqs_.find(bell.cqn);
  if (!cq) return;
  EntryRing& room = *cq;
  const EntryRing before = room;
  ring_cq(cqs_, bell);
  room = before;
  const CqRequest request{.step = CqStep::Doorbell, .consumer = bell.consumer};
  CqAnswer answer;
  CompletionItem item{.cqn = bell.cqn, .request = &request, .cq = cq, .answer = &answer};
  stand_in->process(item);
}

void Completion::count(u32 slot) {
  if (slot >= kLost) [[unlikely]]
    return lose(slot - kLost);
  const u32 cqn = cq_of_[slot];
  device::EventRing& cq = cqs_[cqn];
  const bool due = count_cqe(cq, solicits_[slot], time_of(cq));
  watch(cqn);
  if (due) raise(cqn);
}

void Completion::notify(u32 cqn) {
  const device::EventRing* cq = cqs_.find(cqn);
  const bool due = cq && take_armed(cqs_, cqn, time_of(*cq));
  watch(cqn);
  if (due) raise(cqn);
}

// The period of its moderation runs as the CQ says.
void Completion::watch(u32 cqn) {
  const device::EventRing* cq = cqs_.find(cqn);
  if (!cq || !cq->event_due) return periods_.clear(cqn);
  if (const Cycle ask = periods_.set(cqn, cq->event_due); ask != engine::kNever) wake_at(ask);
}

[[gnu::cold]] void Completion::end_period() {
  if (!outputs.events_out->can_push()) return;
  Cycle again = engine::kNever;
  const u32 cqn = periods_.due(now(), again);
  if (again != engine::kNever) wake_at(std::max(again, now() + 1));
  if (cqn != Timers::kNone) notify(cqn);
}

device::CqTime Completion::time_of(const device::EventRing& cq) const {
  if (!cq.event_period) return {now(), 0};
  return {now(), engine::cycles_from_picoseconds(u64{cq.event_period} * 1'000'000, clock_hz_)};
}

void Completion::raise(u32 cqn) {
  ++counters.events;
  outputs.events_out->push(EventNote{cqs_[cqn].eqn, {EventType::Completion, cqn}});
}

DmaCallbacks Completion::client() {
  return {this, nullptr, [](void* owner, const DmaRequest& r) {
            auto& x = *static_cast<Completion*>(owner);
            const u32 slot = u32(
                (static_cast<u8*>(static_cast<void*>(r.buffer)) - x.cqes_[0].data()) / kCqeBytes);
            x.buffers.give(x.dma.now() + 1);
            x.in_memory_.add(x.dma.now());
            if (!x.late_events_.empty()) x.self.wake(x.dma.now() + 1);
            if (r.failed) [[unlikely]]
              return x.written_in.push(slot + kLost);
            const device::EventRing& cq = x.cqs_[x.cq_of_[slot]];
            if (cq.eqn && x.written_in.can_push()) x.written_in.push(slot);
          }};
}
}  // namespace hca::blocks

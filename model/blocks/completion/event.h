// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/completion/event_config.h"
#include "model/blocks/items.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/memory/dma_request.h"
#include "model/device/contexts.h"
#include "model/device/event_queue.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct EventCounters {
  u64 eqes = 0, lost = 0, messages = 0;
};

// Writes EQEs into their rings and then the messages of interrupt vectors; owns the producers of
// EQs and their arming.
//
// Contract: an event seen in cycle n requests its DMA write in n + latency; one each `interval`
// cycles. A message requests its write one cycle after its EQE, latency cycles after its doorbell,
// or latency + 1 cycles after its mask is lifted; no EQE bypasses it. If the write of a message or a
// completion EQE fails, the device fails: `command` is told one cycle later.
class Event : public engine::Block {
 public:
  static constexpr u32 kBuffers = 16;
  struct Outputs {
    DmaLink* dma_out = nullptr;
    FaultLink* faults_out = nullptr;
  };
  Event(const EventConfig& config, device::Contexts& contexts)
      : buffers(kBuffers),
        config_(config),
        contexts_(contexts),
        eqs_(contexts),
        vectors_(contexts) {}

  std::array<EventLink, 2> events_in{EventLink{4}, EventLink{4}};  // from completion, command
  EqBellLink bells_in{4};
  engine::Budget buffers;
  Outputs outputs;
  EventCounters counters;
  engine::Probe probe;
  engine::Waker dma;

  void tick();
  DmaCallbacks client() {
    return {this, nullptr, [](void* owner, const DmaRequest& r) {
              auto& x = *static_cast<Event*>(owner);
              x.buffers.give(x.dma.now() + 1);
              if (r.failed) [[unlikely]]
                x.lost(r);
            }};
  }

 private:
  void take(const EventNote& note);
  void notify(std::optional<u16> vector);
  void send_message();
  void push(u64 address, const std::array<u8, proto::kEqeBytes>& bytes, u32 count, u32 eqn);
  void lost(const DmaRequest& write);
  void tell_fatal();

  const EventConfig config_;
  const device::Contexts& contexts_;
  const device::EventRings eqs_;
  const device::Vectors vectors_;
  static constexpr u32 kNoEq = ~u32{0};  // of the message of a vector
  std::array<std::array<u8, proto::kEqeBytes>, kBuffers> eqes_{};
  std::array<u32, kBuffers> eqn_of_{};
  bool is_fatal_ = false;  // command does not know it yet
  u32 used_ = 0;
  Ring<u16> messages_;  // vectors whose messages are due
  Cycle next_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::EventCounters> {
  using C = hca::blocks::EventCounters;
  static constexpr std::string_view block = "event";
  static constexpr auto rows = make_rows(
      counter("eqes", &C::eqes, "EQEs", "EQEs written"),
      counter("lost", &C::lost, "events", "events without an event queue or without room in it"),
      counter("messages", &C::messages, "messages", "interrupt messages"));
};

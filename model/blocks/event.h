// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/contexts.h"
#include "model/blocks/dma.h"
#include "model/blocks/items.h"
#include "model/blocks/stage_config.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct EventConfig {
  Cycle latency = 2, interval = 1;
};
struct EventCounters {
  u64 eqes = 0, lost = 0;
};
inline constexpr u32 kAsyncEq = 1;  // where asynchronous events go

// Writes EQEs into their rings.
//
// Contract: an event seen in cycle n asks for its DMA write in n + latency; one each `interval`
// cycles.
class Event : public engine::Block {
 public:
  static constexpr u32 kBuffers = 16;
  struct Ports {
    DmaLink* dma_out = nullptr;
  };
  Event(const EventConfig& config, Contexts& contexts)
      : buffers(kBuffers), config_(config), contexts_(contexts) {}

  std::array<EventLink, 2> events_in{EventLink{4}, EventLink{4}};  // completion, command
  engine::Budget buffers;
  Ports ports;
  EventCounters counters;
  engine::Probe probe;
  engine::Waker dma;

  void tick();
  Dma::Client client() {
    return {this, nullptr, [](void* owner, const DmaRequest&) {
              auto& x = *static_cast<Event*>(owner);
              x.buffers.give(x.dma.now() + 1);
            }};
  }

 private:
  void write(const EventNote& note);

  const EventConfig config_;
  Contexts& contexts_;
  std::array<std::array<u8, proto::kEqeBytes>, kBuffers> eqes_{};
  u32 used_ = 0;
  Cycle next_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::EventConfig> {
  static constexpr std::string_view block = "event";
  static constexpr std::string_view sentence = "EQEs";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::EventConfig>(
      "from an event to its DMA write", "between two events");
};
template <>
struct hca::engine::Counters<hca::blocks::EventCounters> {
  using C = hca::blocks::EventCounters;
  static constexpr std::string_view block = "event";
  static constexpr auto rows =
      std::make_tuple(counter("eqes", &C::eqes, "EQEs", "EQEs written"),
                      counter("lost", &C::lost, "events", "events without an event queue"));
};

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "model/blocks/completion/completion_config.h"
#include "model/blocks/items.h"
#include "model/blocks/lib/delayed.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/lib/stand_in.h"
#include "model/blocks/memory/dma_request.h"
#include "model/blocks/send/timers.h"
#include "model/device/contexts.h"
#include "model/device/event_queue.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct CompletionCounters {
  u64 cqes = 0, overflows = 0, events = 0;
};

// Writes CQEs into their rings; owns the producers of CQs and their arming. The two sides of the
// chip alternate.
//
// Contract: a completion seen in cycle n requests its DMA write in n + latency; one each `interval`
// cycles. A completion event is raised when its CQE is in memory, or by the doorbell that arms the
// CQ if that comes later. SQ_DRAINED and QP_LAST_WQE_REACHED are raised when all earlier CQEs are
// in memory. With moderation the event also waits for the number of CQEs, or for the period; the
// period starts at the CQE or doorbell that would raise the event without moderation.
class Completion : public engine::Block {
 public:
  struct Outputs {
    DmaLink* dma_out = nullptr;
    EventLink* events_out = nullptr;
    FaultLink* faults_out = nullptr;
  };
  Completion(const CompletionConfig& config, u64 clock_hz, device::Contexts& contexts,
             Accesses& accesses)
      : buffers(config.buffers),
        config_(config),
        clock_hz_(clock_hz),
        cqs_(contexts),
        accesses_(accesses) {}

  std::array<CompletedLink, 2> completions_in{CompletedLink{8},
                                              CompletedLink{8}};  // from requester, responder
  CqBellLink bells_in{8};
  engine::Link<u32, 64> written_in{64};  // from dma: a CQE is in memory; from kLost on: it is lost
  engine::Link<u32, 2> changed_in{2};    // from command: this CQ was changed or destroyed
  engine::Budget buffers;
  Outputs outputs;
  CompletionCounters counters;
  StandIn<CompletionItem>* stand_in = nullptr;
  engine::Probe probe;
  engine::Waker dma;

  void tick();
  DmaCallbacks client();
  Cycle next_timer() const { return periods_.next(); }

 private:
  static constexpr u32 kLost = 1 << 16;
  void write(const Completed& c);
  proto::CqePlace put_by(device::EventRing& cq, const Completed& c, u32 slot);
  void lose(u32 slot);
  void overflow(proto::CqResult result, const Completed& c);
  void push_fault();
  void ring(const proto::CqDoorbell& bell);
  void ring_by(const proto::CqDoorbell& bell);
  void count(u32 slot);
  void notify(u32 cqn);
  void watch(u32 cqn);
  void end_period();
  void raise(u32 cqn);
  device::CqTime time_of(const device::EventRing& cq) const;
  void raise_late();

  const CompletionConfig config_;
  const u64 clock_hz_;
  const device::CompletionRings cqs_;
  Accesses& accesses_;
  std::array<std::array<u8, proto::kCqeBytes>, CompletionConfig::kMostBuffers> cqes_{};
  std::array<u32, CompletionConfig::kMostBuffers> cq_of_{};
  std::array<device::ReceiveQueue, CompletionConfig::kMostBuffers> queue_of_{};
  std::array<bool, CompletionConfig::kMostBuffers> solicits_{};
  u32 used_ = 0;
  Delayed in_memory_;  // CQEs in memory
  struct LateEvent {
    proto::Event event{};
    u32 behind = 0;  // due when this many CQEs are in memory
  };
  Ring<LateEvent> late_events_;
  Ring<Fault> faults_;
  Timers periods_;  // by CQN: moderation periods
  unsigned next_input_ = 0;
  Cycle next_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::CompletionCounters> {
  using C = hca::blocks::CompletionCounters;
  static constexpr std::string_view block = "completion";
  static constexpr auto rows =
      make_rows(counter("cqes", &C::cqes, "CQEs", "CQEs written"),
                counter("overflows", &C::overflows, "CQEs", "CQEs without room"),
                counter("events", &C::events, "events", "completion events raised"));
};

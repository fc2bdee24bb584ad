// SPDX-License-Identifier: Apache-2.0
// Random steps of a few CQs: CQEs of all kinds and doorbells, around the limits of their rings, of
// their room and of their indices.
#pragma once
#include <memory>
#include <optional>

#include "model/blocks/twins/completion_unit.h"
#include "rtl/completion/cq_step.h"
#include "testbench/lockstep/random_packets.h"

namespace hca::testbench {
// The twin's ring, and the stimulus's copy of it when it makes the next step.
struct RandomCq {
  u32 cqn = 0;
  proto::EntryRing twin{}, ahead{};
  u64 steps = 0;
  u64 last = 0;  // number of the last step, from 1 on, and its outcome
  u32 last_outcome = 0;
};

struct CompletionPacket : StreamPacket {
  std::shared_ptr<RandomCq> of{};
  blocks::CqRequest request{};
  blocks::CqAnswer answer{};
  proto::EntryRing before{};
  // Steps back to the previous one of its CQ, and its outcome (outcome_of). 0: there is none.
  u32 distance = 0, outcome_before = 0;
  // The answer of the look-up; the state only with the first step of a CQ.
  engine::Cycle context_late = 0;
  rtl::CqConfig config{};
  std::optional<rtl::CqState> fresh{};

  u32 number_of_context() const { return of->cqn; }
};
// The outcome of a step: its place among kOutcomes.
struct CqOutcome {
  blocks::CqStep step;
  proto::CqResult result;
};
inline constexpr std::array kOutcomes{
    CqOutcome{blocks::CqStep::Complete, proto::CqResult::Written},
    CqOutcome{blocks::CqStep::Complete, proto::CqResult::FirstLost},
    CqOutcome{blocks::CqStep::Complete, proto::CqResult::Lost},
    CqOutcome{blocks::CqStep::Complete, proto::CqResult::NoQueue},
    CqOutcome{blocks::CqStep::Doorbell, proto::CqResult::Written},
    CqOutcome{blocks::CqStep::Doorbell, proto::CqResult::NoQueue}};
u32 outcome_of(blocks::CqStep step, proto::CqResult result);
rtl::CqState state_of(const proto::EntryRing& cq);

class CompletionStimulus {
 public:
  explicit CompletionStimulus(u64 seed) : random_(seed) {}
  CompletionPacket next();

  static constexpr u32 kCqs = 6;

 private:
  using Packet = CompletionPacket;
  u32 new_number();
  std::shared_ptr<RandomCq> new_cq();
  u32 near_wrap();
  u32 consumer_for(const proto::EntryRing& cq);
  void make_cqe(proto::Cqe& cqe);

  engine::Random random_;
  Regime regime_;
  u64 made_ = 0;
  std::array<std::shared_ptr<RandomCq>, kCqs> cqs_{};
  NewNumbers numbers_;
  u32 last_ = 0;
  u32 late_percent_ = 0, bell_percent_ = 0;
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/completion_stimulus.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/proto/interface/object_attributes.h"
#include "testbench/lockstep/coverage.h"

namespace hca::testbench {
using namespace proto;
using blocks::CqStep;

u32 outcome_of(CqStep step, CqResult result) {
  return index_in(kOutcomes,
                  [&](const CqOutcome& o) { return o.step == step && o.result == result; });
}
rtl::CqState state_of(const EntryRing& cq) { return {cq.producer, cq.consumer, cq.overflowed}; }

// Often one bit away from the number of another CQ.
u32 CompletionStimulus::new_number() {
  u32 cqn = 0;
  do {
    const auto& other = cqs_[random_.below(kCqs)];
    cqn = other && random_.chance(2, 3) ? other->cqn ^ 1u << random_.below(24)
                                        : u32(random_()) & 0xffffff;
  } while (!numbers_.take(cqn));
  return cqn;
}

// Often just before 2^32, or just before the end of a ring.
u32 CompletionStimulus::near_wrap() {
  const u32 some = u32(random_.below(8));
  return random_.chance(1, 3)   ? 4 - some
         : random_.chance(1, 2) ? (1u << random_.below(kMaxLogQueueEntries + 2u)) + 4 - some
                                : u32(random_());
}

std::shared_ptr<RandomCq> CompletionStimulus::new_cq() {
  auto cq = std::make_shared<RandomCq>();
  cq->cqn = new_number();
  EntryRing& r = cq->ahead;
  r.allocated = !random_.chance(1, 12);
  r.log_entries = u8(random_.below(random_.chance(1, 4) ? kMaxLogQueueEntries + 1u : 4u));
  r.address = random_() << (random_.chance(1, 2) ? 12 : 0);
  if (random_.chance(1, 4)) r.address |= low_mask(12 + u32(random_.below(53)));  // a long carry
  r.producer = near_wrap();
  const u32 taken = u32(random_.below(4));  // it is empty, nearly full, or anything between
  r.consumer =
      r.producer - (taken == 0   ? 0
                    : taken == 1 ? r.entries() - std::min(u32(random_.below(3)), r.entries())
                                 : u32(random_.below(r.entries() + 1)));
  r.overflowed = random_.chance(1, 12);
  cq->twin = r;
  return cq;
}

// Consumes all CQEs, some, none; or more than there are.
u32 CompletionStimulus::consumer_for(const EntryRing& cq) {
  const u32 waiting = cq.producer - cq.consumer;
  switch (random_.below(12)) {
    case 0:
      return cq.consumer;
    case 1:
      return cq.producer + 1 + u32(random_.below(4));
    case 2:
      return random_.chance(1, 2) ? u32(random_()) : cq.producer - (1u << random_.below(32));
    case 3:
    case 4:
    case 5:
      return cq.consumer + 1;
    case 6:
    case 7:
      return cq.producer;
    default:
      return cq.consumer + u32(random_.below(u64{waiting} + 1));
  }
}

void CompletionStimulus::make_cqe(Cqe& cqe) {
  constexpr std::array kCqeOpcodes{CqeOpcode::Send,
                                   CqeOpcode::RdmaWrite,
                                   CqeOpcode::RdmaRead,
                                   CqeOpcode::CompareSwap,
                                   CqeOpcode::FetchAdd,
                                   CqeOpcode::BindMw,
                                   CqeOpcode::LocalInvalidate,
                                   CqeOpcode::RegisterMr,
                                   CqeOpcode::Receive,
                                   CqeOpcode::ReceiveRdmaImmediate};
  randomize(cqe, random_);
  cqe.phase = false;  // the CQ has the phase
  if (!random_.chance(1, 8)) cqe.opcode = kCqeOpcodes[random_.below(kCqeOpcodes.size())];
  if (!random_.chance(1, 8))
    cqe.status =
        random_.chance(1, 2) ? WcStatus::Success : WcStatus(random_.below(kWcStatusNames.size()));
}

CompletionPacket CompletionStimulus::next() {
  Packet p;
  p.number = made_++;
  p.gap = regime_.gap(random_);
  if (p.number % 256 == 0) {
    late_percent_ = std::array<u32, 4>{0, 0, 10, 60}[random_.below(4)];
    bell_percent_ = std::array<u32, 3>{10, 40, 60}[random_.below(3)];
  }
  if (random_.chance(late_percent_, 100)) p.context_late = 1 + random_.below(20);
  if (!random_.chance(1, 2)) last_ = u32(random_.below(kCqs));
  auto& place = cqs_[last_];
  if (!place || random_.chance(1, place->ahead.overflowed || !place->ahead.allocated ? 5 : 60))
    place = new_cq();
  p.of = place;
  RandomCq& cq = *place;
  p.before = cq.ahead;
  p.config = {cq.ahead.allocated, cq.ahead.log_entries, cq.ahead.address};
  p.request.step = random_.chance(bell_percent_, 100) ? CqStep::Doorbell : CqStep::Complete;
  make_cqe(p.request.cqe);
  p.request.consumer = consumer_for(cq.ahead);
  if (!cq.steps++) p.fresh = state_of(cq.ahead);
  const u32 outcome = outcome_of(p.request.step, blocks::step_cq(cq.ahead, p.request).place.result);
  if (cq.last) {
    p.distance = u32(made_ - cq.last);
    p.outcome_before = cq.last_outcome;
  }
  cq.last = made_;
  cq.last_outcome = outcome;
  p.what = p.request.step == CqStep::Doorbell
               ? fmt::format("Doorbell with consumer {:#x}", p.request.consumer)
               : fmt::format("Complete WQE {:#x} of QP {:#x}, opcode {}, status {}",
                             p.request.cqe.wqe_index, p.request.cqe.qpn, u32(p.request.cqe.opcode),
                             u32(p.request.cqe.status));
  return p;
}
}  // namespace hca::testbench

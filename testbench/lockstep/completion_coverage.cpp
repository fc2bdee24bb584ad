// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/completion_coverage.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using namespace proto;
using blocks::CqStep;
using Names = std::string_view;

constexpr std::array<Names, 6> kOutcomeNames{"a CQE is written",   "a CQE is the first lost one",
                                             "a CQE is lost",      "a CQE without a CQ",
                                             "a doorbell is rung", "a doorbell without a CQ"};
constexpr std::array<u32, 5> kSizes{1, 2, 8, 256, 1u << 22};  // entries, up to
constexpr std::array<Names, 3> kPlaces{"first entry", "between", "last entry"};
constexpr std::array<Names, 5> kRooms{"empty", "room left", "the last entry", "full",
                                      "more than full"};
constexpr std::array<Names, 4> kSolicits{"neither", "solicited", "failed", "solicited and failed"};
constexpr std::array<u32, 11> kOpcodes{0, 1, 2, 3, 4, 5, 6, 7, 128, 129, 256};  // 256: others
constexpr std::array<Names, 3> kWraps{"both indices on one side", "the producer has wrapped",
                                      "the producer wraps"};
constexpr std::array<Names, 5> kConsumers{"stays", "goes on", "takes all", "beyond the producer",
                                          "goes back"};
constexpr std::array<Names, 4> kQueues{"empty", "with CQEs", "full", "overflowed"};

bool is_of_cqe(u32 outcome) { return kOutcomes[outcome].step == CqStep::Complete; }
// In a ring of one entry, the entry is first and last; a ring of two has none between.
bool can_be_place(u32 size, u32 place) { return place == 0 || kSizes[size] > (place == 2 ? 1 : 2); }
bool can_be_room(u32 size, u32 room) {
  return kSizes[size] > 2 || room != 1 ? kSizes[size] > 1 || room != 2 : false;
}
// A CQ that is gone or has overflowed does not come back.
bool can_follow(u32 outcome, u32 before) {
  const CqResult is = kOutcomes[outcome].result, was = kOutcomes[before].result;
  if ((is == CqResult::NoQueue) != (was == CqResult::NoQueue)) return false;
  if (!is_of_cqe(outcome)) return true;
  if (was == CqResult::FirstLost || was == CqResult::Lost) return is == CqResult::Lost;
  return is_of_cqe(before) ? is != CqResult::Lost : true;
}
u32 queue_of(const EntryRing& cq) {
  return cq.overflowed ? 3 : cq.is_full() ? 2 : cq.producer != cq.consumer ? 1 : 0;
}
// After Empty and doorbells nothing goes on.
bool can_be_bell(u32 consumer, u32 queue) { return queue != 0 || (consumer != 1 && consumer != 2); }
}  // namespace

CompletionCoverage::CompletionCoverage(u32) {
  const auto size_name = [](u32 size) { return fmt::format("up to {} entries", kSizes[size]); };
  add_group("step x result");
  for (const Names outcome : kOutcomeNames) add(std::string(outcome));
  places_ = add_group("size of the ring x entry x phase");
  for (u32 s = 0; s < kSizes.size(); ++s)
    for (u32 p = 0; p < kPlaces.size(); ++p)
      for (const u32 phase : {0u, 1u})
        add(can_be_place(s, p)
                ? fmt::format("written: {}, {}, phase {}", size_name(s), kPlaces[p], phase)
                : "");
  rooms_ = add_group("size of the ring x room");
  for (u32 s = 0; s < kSizes.size(); ++s)
    for (u32 r = 0; r < kRooms.size(); ++r)
      add(can_be_room(s, r) ? fmt::format("room: {}, {}", size_name(s), kRooms[r]) : "");
  kinds_ = add_group("opcode x solicited or failed");
  for (const u32 opcode : kOpcodes)
    for (const Names solicits : kSolicits)
      add(fmt::format("CQE: opcode {}, {}",
                      opcode == kOpcodes.back() ? "reserved" : fmt::format("{}", opcode),
                      solicits));
  statuses_ = add_group("status");
  for (const Names status : kWcStatusNames) add(fmt::format("CQE: status {}", status));
  wraps_ = add_group("result x indices");
  for (u32 o = 0; o < 3; ++o)
    for (u32 w = 0; w < kWraps.size(); ++w)
      add(o && w == 2 ? "" : fmt::format("{}: {}", kOutcomeNames[o], kWraps[w]));
  bells_ = add_group("doorbell x CQ");
  for (u32 c = 0; c < kConsumers.size(); ++c)
    for (u32 q = 0; q < kQueues.size(); ++q)
      add(can_be_bell(c, q) ? fmt::format("doorbell: consumer {}, CQ {}", kConsumers[c], kQueues[q])
                            : "");
  hazards_ = add_group("step and result x those before of the CQ x steps between");
  for (u32 o = 0; o < kOutcomes.size(); ++o)
    for (u32 before = 0; before < kOutcomes.size(); ++before)
      for (const u32 up_to : kHazardDistances)
        add(can_follow(o, before) ? fmt::format("{} up to {} steps behind: {}", kOutcomeNames[o],
                                                up_to, kOutcomeNames[before])
                                  : "");
  const Dimension step{"step and result", {kOutcomeNames.begin(), kOutcomeNames.end()}},
      look_up{"look-up", {"context in time", "context late"}}, start{"start", start_names()};
  add_cross(std::array{&step, &look_up, &start});
}

void CompletionCoverage::count_cqe(const CompletionPacket& p) {
  const EntryRing& cq = p.before;
  const Cqe& e = p.request.cqe;
  const CqResult result = p.answer.place.result;
  if (result == CqResult::NoQueue) return;
  const u32 entries = cq.entries(), size = index_in(kSizes, [&](u32 s) { return entries <= s; });
  const u32 at = cq.producer & (entries - 1), waiting = cq.producer - cq.consumer;
  if (result == CqResult::Written)
    hit(places_ +
        (size * kPlaces.size() + (at == 0             ? 0
                                  : at + 1 == entries ? 2
                                                      : 1)) *
            2 +
        cq.phase());
  if (result != CqResult::Lost)
    hit(rooms_ + size * kRooms.size() +
        (waiting == 0             ? 0
         : waiting > entries      ? 4
         : waiting == entries     ? 3
         : waiting + 1 == entries ? 2
                                  : 1));
  const u32 opcode = index_in(kOpcodes, [&](u32 o) { return o == u32(e.opcode) || o == 256; });
  const bool failed = e.status != WcStatus::Success;
  hit(kinds_ + opcode * kSolicits.size() + e.solicited + 2 * failed);
  if (std::size_t(e.status) < kWcStatusNames.size()) hit(statuses_ + std::size_t(e.status));
  const bool wraps = result == CqResult::Written && cq.producer == ~u32{0};
  hit(wraps_ + std::size_t(result) * kWraps.size() +
      (wraps                       ? 2
       : cq.producer < cq.consumer ? 1
                                   : 0));
}

void CompletionCoverage::count_doorbell(const CompletionPacket& p) {
  if (p.answer.place.result == CqResult::NoQueue) return;
  const EntryRing& cq = p.before;
  const u32 waiting = cq.producer - cq.consumer, taken = p.request.consumer - cq.consumer;
  const u32 consumer = taken == 0         ? 0
                       : taken < waiting  ? 1
                       : taken == waiting ? 2
                       : taken < 1u << 31 ? 3
                                          : 4;
  hit(bells_ + consumer * kQueues.size() + queue_of(cq));
}

void CompletionCoverage::count(const CompletionPacket& p) {
  const u32 outcome = outcome_of(p.request.step, p.answer.place.result);
  hit(outcome);
  if (p.request.step == CqStep::Complete)
    count_cqe(p);
  else
    count_doorbell(p);
  const u32 distance = index_in(kHazardDistances, [&](u32 up_to) { return p.distance <= up_to; });
  if (p.distance && distance < kHazardDistances.size())
    hit(hazards_ + (outcome * kOutcomes.size() + p.outcome_before) * kHazardDistances.size() +
        distance);
  hit_cross(0, {outcome, p.context_late != 0, u32(p.start)});
}
}  // namespace hca::testbench

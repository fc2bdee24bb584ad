// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/requester_psn_coverage.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
using namespace proto;
using blocks::kPsnKindNames;
using blocks::kPsnResultNames;
using blocks::kPsnStepNames;
using blocks::PsnKind;
using blocks::PsnResult;
using blocks::PsnStep;
using Names = std::string_view;

constexpr std::array<Names, 7> kLengths{"no bytes",         "part of a packet",       "one packet",
                                        "up to two",        "several, the last full", "several",
                                        "as long as can be"};
constexpr std::array<Names, 4> kWindows{"room left", "just full", "one too many", "more"};
constexpr std::array<Names, 4> kSent{"for the first time", "again", "again, behind send_psn",
                                     "again, already acknowledged"};
constexpr std::array<Names, 7> kPlaces{"behind",  "newest acknowledged", "oldest unacknowledged",
                                       "between", "last sent",           "next to send",
                                       "ahead"};
constexpr std::array<Names, 3> kReturns{"nothing was repeated", "overtakes what is repeated",
                                        "while others are repeated"};

bool can_be(PsnStep step, PsnResult result) {
  switch (result) {
    case PsnResult::Done:
      return true;
    case PsnResult::Full:
      return step == PsnStep::Message;
    case PsnResult::Ghost:
      return step == PsnStep::Acknowledge || step == PsnStep::GoBack;
    default:
      return step == PsnStep::Acknowledge;
  }
}
// What comes in the place of what is outstanding: a RESYNC of an EE context.
constexpr std::array<Names, 4> kReplaced{"nothing", "what is sent", "what is repeated",
                                         "what is not sent yet"};
u32 replaced_by(const SendPsns& s) {
  return s.sent_psn != s.next_psn ? 3 : s.repeats() ? 2 : s.anything_unacked() ? 1 : 0;
}
// A queue pair that has just started has nothing to send.
bool can_follow(PsnStep step, PsnStep before) {
  return step != PsnStep::Packet || before != PsnStep::Start;
}
u32 length_of(u64 bytes, u32 mtu) {
  return bytes == 0              ? 0
         : bytes < mtu           ? 1
         : bytes == mtu          ? 2
         : bytes <= 2 * u64{mtu} ? 3
         : bytes == u64{1} << 31 ? 6
         : bytes % mtu == 0      ? 4
                                 : 5;
}
u32 place_of(const SendPsns& s, Psn psn) {
  const u32 sent = psns_between(s.unacked_psn, s.sent_psn), at = psns_between(s.unacked_psn, psn);
  return at < sent                    ? (at == 0          ? 2
                                         : at + 1 == sent ? 4
                                                          : 3)
         : at == kPsnMask             ? 1
         : at == sent                 ? 5
         : at < kPsnWindow + sent / 2 ? 6
                                      : 0;
}
}  // namespace

RequesterPsnCoverage::RequesterPsnCoverage(u32) {
  add_group("step x result");
  for (std::size_t s = 0; s < kPsnStepNames.size(); ++s)
    for (std::size_t r = 0; r < kPsnResultNames.size(); ++r)
      add(can_be(PsnStep(s), PsnResult(r))
              ? fmt::format("{}: {}", kPsnStepNames[s], kPsnResultNames[r])
              : "");
  lengths_ = add_group("length of a message x path MTU x kind");
  for (const Names length : kLengths)
    for (const u32 mtu : kPathMtus)
      for (const Names kind : kPsnKindNames)
        add(fmt::format("{}: {}, path MTU {}", kind, length, mtu));
  windows_ = add_group("window x kind");
  for (std::size_t w = 0; w < kWindows.size(); ++w)
    for (std::size_t k = 0; k < kPsnKindNames.size(); ++k)
      add(PsnKind(k) == PsnKind::Atomic && w == 3
              ? ""
              : fmt::format("window: {}, {}", kWindows[w], kPsnKindNames[k]));
  packets_ = add_group("packet x kind");
  for (const Names sent : kSent)
    for (const Names kind : kPsnKindNames) add(fmt::format("packet: {}, {}", sent, kind));
  answers_ = add_group("answer x PSN x wrap");
  for (const PsnStep step : {PsnStep::Acknowledge, PsnStep::GoBack})
    for (const Names place : kPlaces)
      for (const Names wraps : {"", ", PSNs wrap"})
        add(fmt::format("{}: PSN {}{}", kPsnStepNames[std::size_t(step)], place, wraps));
  returns_ = add_group("answer x what is repeated");
  for (const PsnStep step : {PsnStep::Acknowledge, PsnStep::GoBack, PsnStep::Timeout})
    for (std::size_t r = 0; r < kReturns.size(); ++r)
      add(step == PsnStep::Timeout && r == 1
              ? ""
              : fmt::format("{}: {}", kPsnStepNames[std::size_t(step)], kReturns[r]));
  hazards_ = add_group("step x step before of the queue pair x steps between");
  for (std::size_t step = 0; step < kPsnStepNames.size(); ++step)
    for (std::size_t before = 0; before < kPsnStepNames.size(); ++before)
      for (const u32 up_to : kHazardDistances)
        add(can_follow(PsnStep(step), PsnStep(before))
                ? fmt::format("{} up to {} steps behind {}", kPsnStepNames[step], up_to,
                              kPsnStepNames[before])
                : "");
  contexts_ = add_group("step x context");
  for (std::size_t s = 0; s < kPsnStepNames.size(); ++s)
    for (const bool ee : {false, true})
      add(PsnStep(s) == PsnStep::Resync && !ee
              ? ""
              : fmt::format("{} of {}", kPsnStepNames[s], ee ? "an EE context" : "a queue pair"));
  replaced_ = add_group("what a RESYNC replaces");
  for (const Names what : kReplaced) add(fmt::format("RESYNC in place of {}", what));
  const Dimension step{"step", {kPsnStepNames.begin(), kPsnStepNames.end()}},
      look_up{"look-up", {"context in time", "context late"}}, start{"start", start_names()};
  add_cross(std::array{&step, &look_up, &start});
}

void RequesterPsnCoverage::count_message(const RequesterPsnPacket& p) {
  const std::size_t kinds = kPsnKindNames.size(), kind = std::size_t(p.request.kind);
  const u32 mtu = index_in(kPathMtus, [&](u32 bytes) { return bytes == p.config.path_mtu; });
  hit(lengths_ +
      (length_of(p.request.byte_len, p.config.path_mtu) * kPathMtus.size() + mtu) * kinds + kind);
  const u32 taken = psns_between(p.before.unacked_psn, p.before.next_psn) + p.answer.psns.count;
  const u32 window = taken < kPsnWindow ? 0 : std::min(taken - kPsnWindow, 2u) + 1;
  hit(windows_ + window * kinds + kind);
}

void RequesterPsnCoverage::count_packet(const RequesterPsnPacket& p) {
  const SendPsns& s = p.before;
  const Psn psn = p.answer.psns.first;
  const u32 sent = !p.answer.repeated                      ? 0
                   : psn == s.send_psn                     ? 1
                   : psn_distance(s.unacked_psn, psn) >= 0 ? 2
                                                           : 3;
  hit(packets_ + sent * kPsnKindNames.size() + std::size_t(p.request.kind));
}

void RequesterPsnCoverage::count_answer(const RequesterPsnPacket& p) {
  const SendPsns& s = p.before;
  const u64 step = u64(p.request.step) - u64(PsnStep::Acknowledge);
  if (p.request.step != PsnStep::Timeout)
    hit(answers_ + (step * kPlaces.size() + place_of(s, p.request.psn)) * 2 +
        (s.sent_psn < s.unacked_psn));
  if (p.answer.result != PsnResult::Done) return;
  const u32 up_to = psns_between(s.unacked_psn, p.answer.after.unacked_psn),
            at = psns_between(s.unacked_psn, s.send_psn);
  hit(returns_ + step * kReturns.size() + (!s.repeats() ? 0 : at < up_to ? 1 : 2));
}

void RequesterPsnCoverage::count(const RequesterPsnPacket& p) {
  const std::size_t steps = kPsnStepNames.size(), step = std::size_t(p.request.step);
  hit(step * kPsnResultNames.size() + std::size_t(p.answer.result));
  if (p.request.step == PsnStep::Message)
    count_message(p);
  else if (p.request.step == PsnStep::Packet)
    count_packet(p);
  else if (p.request.step == PsnStep::Resync)
    hit(replaced_ + replaced_by(p.before));
  else if (p.request.step != PsnStep::Start)
    count_answer(p);
  hit(contexts_ + 2 * step + device::is_ee(p.of->qpn));
  const u32 distance = index_in(kHazardDistances, [&](u32 up_to) { return p.distance <= up_to; });
  if (p.distance && distance < kHazardDistances.size())
    hit(hazards_ + (step * steps + std::size_t(p.step_before)) * kHazardDistances.size() +
        distance);
  hit_cross(0, {u32(step), p.context_late != 0, u32(p.start)});
}
}  // namespace hca::testbench

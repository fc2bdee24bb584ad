// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/completion_lockstep.h"

#include "testbench/lockstep/lockstep.h"
#include "testbench/lockstep/step_side_bands.h"

namespace hca::testbench {
using namespace proto;
using blocks::CqStep;

namespace {
// The statements that determine the result of a CQE; a doorbell, which consumes CQEs, has its own.
constexpr std::array<std::string_view, blocks::kCqResultNames.size()> kCqStatements{
    "CQ-1, CQ-2", "G21.3", "G21.3", "CQ-20"};
std::string_view statements_of(const CompletionPacket& p) {
  if (p.request.step != CqStep::Complete) return "CQ-21";
  return kCqStatements[std::size_t(p.answer.place.result)];
}
}  // namespace

void CompletionCounts::count(const CompletionPacket& p) {
  const CqResult result = p.answer.place.result;
  const bool completes = p.request.step == CqStep::Complete;
  written += completes && result == CqResult::Written;
  first_lost += result == CqResult::FirstLost;
  lost += result == CqResult::Lost;
  doorbells += !completes && result == CqResult::Written;
  without_queue += result == CqResult::NoQueue;
  followed += p.distance == 1;
}

std::string CompletionCounts::text() const {
  return fmt::format(
      "CQEs written {}, lost first {}, later {}, doorbells {}, without a CQ {}; right behind one "
      "of the same CQ {}",
      written, first_lost, lost, doorbells, without_queue, followed);
}

blocks::CompletionItem CompletionLockstep::item_of(Packet& p) {
  blocks::CompletionItem item;
  item.cqn = p.of->cqn;
  item.cq = &p.of->twin;
  item.request = &p.request;
  item.answer = &p.answer;
  item.context_late = p.context_late;
  return item;
}

void CompletionLockstep::set_side_band(const Packet& p, In& c) {
  put_step(p.of->cqn, p.request, c);
}

rtl::BeatOf<rtl::CqStepped> CompletionLockstep::expected(const Packet& p, u32, u32) {
  const blocks::CqAnswer& a = p.answer;
  rtl::BeatOf<Out> beat;
  Out& c = beat.control;
  c.first = c.last = true;
  c.op = u8(p.request.step);
  c.result = u8(a.place.result);
  c.solicited = a.solicited;
  c.cqn = p.of->cqn;
  c.address = a.place.address;
  if (p.request.step == CqStep::Complete && a.place.result == CqResult::Written)
    decode_to(a.bytes.data(), c.cqe);
  else if (p.request.step == CqStep::Complete)
    c.cqe = p.request.cqe;
  c.state = state_of(a.after);
  return beat;
}

std::string CompletionLockstep::describe(const Packet& p, bool left) {
  const EntryRing& cq = p.before;
  return fmt::format(
      "packet {}{}: {} to CQ {:#x} of {} entries at {:#x}{}{}; producer {:#x}, consumer {:#x}{}, "
      "{} "
      "packets behind one of its CQ, answer {} cycles late\n",
      p.number, left ? fmt::format(" ({})", statements_of(p)) : "", p.what, p.of->cqn, cq.entries(),
      cq.address, cq.allocated ? "" : ", destroyed",
      left ? fmt::format(": {}", blocks::kCqResultNames[std::size_t(p.answer.place.result)]) : "",
      cq.producer, cq.consumer, cq.overflowed ? ", overflowed" : "", p.distance, p.context_late);
}

template LockstepResult<CompletionLockstep> run_lockstep(
    const LockstepOptions<CompletionLockstep>&);
}  // namespace hca::testbench

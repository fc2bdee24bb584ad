// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/requester_psn_lockstep.h"

#include "testbench/lockstep/lockstep.h"
#include "testbench/lockstep/step_side_bands.h"

namespace hca::testbench {
using namespace proto;
using blocks::PsnResult;
using blocks::PsnStep;

namespace {
// By step: the statements that determine its result.
constexpr std::array<std::string_view, std::size_t(PsnStep::Count)> kPsnStatements{
    "G1.1", "G1.2, G1.4", "G1.1, G1.3", "G12.1", "G11.4, G12.3", "G11.3", "G13.3, RSY-1"};
}  // namespace

void RequesterPsnCounts::count(const RequesterPsnPacket& p) {
  const PsnStep step = p.request.step;
  const blocks::PsnAnswer& a = p.answer;
  const bool done = a.result == PsnResult::Done;
  taken += step == PsnStep::Message && done;
  waiting += a.result == PsnResult::Full;
  sent += step == PsnStep::Packet;
  repeated += a.repeated;
  acknowledged += step == PsnStep::Acknowledge && done;
  returned += step == PsnStep::Timeout || (step == PsnStep::GoBack && done);
  ghosts += a.result == PsnResult::Ghost || a.result == PsnResult::Newest;
  followed += p.distance == 1;
}

std::string RequesterPsnCounts::text() const {
  return fmt::format(
      "messages taken {}, that wait {}, packets sent {}, again {}, acknowledged {}, gone back {}, "
      "ghosts {}; right behind one of the same queue pair {}",
      taken, waiting, sent, repeated, acknowledged, returned, ghosts, followed);
}

blocks::RequesterPsnItem RequesterPsnLockstep::item_of(Packet& p) {
  blocks::RequesterPsnItem item;
  item.qpn = p.of->qpn;
  item.path_mtu = p.config.path_mtu;
  item.request = p.request;
  item.psns = &p.of->twin;
  item.answer = &p.answer;
  item.context_late = p.context_late;
  return item;
}

void RequesterPsnLockstep::set_side_band(const Packet& p, In& c) {
  put_step(p.number_of_context(), p.request, c);
}

rtl::BeatOf<rtl::PsnStepped> RequesterPsnLockstep::expected(const Packet& p, u32, u32) {
  const blocks::PsnAnswer& a = p.answer;
  rtl::BeatOf<Out> beat;
  Out& c = beat.control;
  c.first = c.last = true;
  c.op = u8(p.request.step);
  c.result = u8(a.result);
  c.repeated = a.repeated;
  c.progress = a.progress;
  c.unacked = a.after.anything_unacked();
  c.ee = device::is_ee(p.of->qpn);
  c.qpn = device::eecn_of(p.of->qpn);
  c.psn = a.psns.first;
  c.count = a.psns.count;
  c.state = a.after;
  return beat;
}

std::string RequesterPsnLockstep::describe(const Packet& p, bool left) {
  const SendPsns& s = p.before;
  return fmt::format(
      "packet {} ({}): {} to {} {:#x} with path MTU {}{}; unacked_psn {:#x}, send_psn {:#x}, "
      "sent_psn "
      "{:#x}, next_psn {:#x}, {} packets behind one of its context, answer {} cycles late\n",
      p.number, kPsnStatements[std::size_t(p.request.step)], p.what,
      device::is_ee(p.of->qpn) ? "EE context" : "QP", device::eecn_of(p.of->qpn), p.config.path_mtu,
      left ? fmt::format(": {}", blocks::kPsnResultNames[std::size_t(p.answer.result)]) : "",
      s.unacked_psn, s.send_psn, s.sent_psn, s.next_psn, p.distance, p.context_late);
}

template LockstepResult<RequesterPsnLockstep> run_lockstep(
    const LockstepOptions<RequesterPsnLockstep>&);
}  // namespace hca::testbench

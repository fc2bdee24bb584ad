// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/requester_psn_stimulus.h"

#include <fmt/format.h>

#include <algorithm>

namespace hca::testbench {
using namespace proto;
using blocks::PsnKind;
using blocks::PsnStep;

namespace {
constexpr u32 kMostBytes = u32{1} << 31;

// A length of this many packets.
u32 bytes_of(u32 packets, u32 mtu, engine::Random& random) {
  const u64 full = u64{packets} * mtu;
  return u32(full - (random.chance(1, 3) ? 0 : random.below(packets == 1 ? mtu + 1 : mtu)));
}
}  // namespace

// Often one bit away from the number of another one; an EE context and a queue pair may have the
// same.
u32 RequesterPsnStimulus::new_number() {
  constexpr u32 kBits = 25;
  u32 number = 0;
  do {
    const auto& other = qps_[random_.below(kQps)];
    number = other && random_.chance(2, 3)
                 ? device::context_number(other->qpn) ^ 1u << random_.below(kBits)
                 : u32(random_()) & ((1u << kBits) - 1);
  } while (!numbers_.take(number));
  const u32 of_24_bits = number & kPsnMask;
  return number == of_24_bits ? number : device::ee_number(of_24_bits);
}

// 0 to `most`, often at one of the ends.
u32 RequesterPsnStimulus::around(u32 most) {
  switch (random_.below(5)) {
    case 0:
      return 0;
    case 1:
      return most;
    case 2:
      return std::min(most, u32(random_.below(8)));
    case 3:
      return most - std::min(most, u32(random_.below(8)));
    default:
      return u32(random_.below(u64{most} + 1));
  }
}

std::shared_ptr<PsnQp> RequesterPsnStimulus::new_qp() {
  auto qp = std::make_shared<PsnQp>();
  qp->qpn = new_number();
  qp->path_mtu = u16(kPathMtus[random_.below(kPathMtus.size())]);
  SendPsns& s = qp->ahead;
  s.start(random_.chance(1, 2) ? psn_sub(8, u32(random_.below(16))) : u32(random_()) & kPsnMask);
  const u32 taken = around(random_.chance(1, 3) ? kPsnWindow : 40), sent = around(taken);
  s.next_psn = psn_add(s.unacked_psn, taken);
  s.sent_psn = psn_add(s.unacked_psn, sent);
  s.send_psn = random_.chance(1, 2) ? s.sent_psn : psn_add(s.unacked_psn, around(sent));
  if (random_.chance(1, 12)) {  // the whole window is sent, and sent again from its beginning
    qp->path_mtu = kPathMtus[0];
    s.next_psn = s.sent_psn = psn_add(s.unacked_psn, kPsnWindow);
    s.send_psn = psn_add(s.unacked_psn, 1 + u32(random_.below(3)));
  }
  qp->twin = s;
  return qp;
}

void RequesterPsnStimulus::make_message(Packet& p) {
  blocks::PsnRequest& r = p.request;
  const u32 mtu = p.of->path_mtu;
  constexpr std::array kKinds{PsnKind::Data, PsnKind::Data, PsnKind::Data,
                              PsnKind::Read, PsnKind::Read, PsnKind::Atomic};
  r.kind = kKinds[random_.below(kKinds.size())];
  const u32 most = kMostBytes / mtu;  // packets
  const u32 left = kPsnWindow - psns_between(p.before.unacked_psn, p.before.next_psn);
  switch (random_.below(8)) {
    case 0:
      r.byte_len = 0;
      break;
    case 1:
      r.byte_len = mtu;
      break;
    case 2:
      r.byte_len = kMostBytes - (random_.chance(1, 2) ? 0 : u32(random_.below(8)));
      break;
    case 3:  // the window's last PSN, and those around it
    case 4:
      r.byte_len = bytes_of(
          std::clamp<u32>(left + 1 - std::min(left, u32(random_.below(3))), 1, most), mtu, random_);
      break;
    default:
      r.byte_len = bytes_of(1 + u32(random_.below(random_.chance(1, 8) ? most : 6)), mtu, random_);
  }
}

// The next packet, or one of a message that has been acknowledged beyond it meanwhile.
void RequesterPsnStimulus::make_packet(Packet& p) {
  blocks::PsnRequest& r = p.request;
  const SendPsns& s = p.before;
  r.kind = PsnKind(random_.below(3));
  const u32 sent = psns_between(s.unacked_psn, s.sent_psn);
  Psn psn = s.send_psn;
  u32 most = psns_between(psn, s.repeats() ? s.sent_psn : s.next_psn);
  if (!most || random_.chance(1, 6)) {
    const u32 before = psns_between(s.unacked_psn, s.send_psn);
    psn = psn_sub(s.send_psn, std::clamp(around(before + 8), 1u, kPsnWindow - 1));
    most = psns_between(psn, s.sent_psn);
  }
  const u32 mtu = p.of->path_mtu;
  const u32 packets = kMostBytes / mtu;
  if (sent == kPsnWindow && packets == kPsnWindow && random_.chance(1, 3)) {  // a READ of it all
    r.kind = PsnKind::Read;
    r.index = 0;
    r.psn = s.unacked_psn;
    r.byte_len = kMostBytes;
    return;
  }
  const u32 count = r.kind == PsnKind::Read ? 1 + around(std::min(most, packets) - 1) : 1;
  r.index = r.kind == PsnKind::Atomic ? 0 : around(packets - count);
  r.psn = psn_sub(psn, r.index);
  r.byte_len = r.kind == PsnKind::Read ? bytes_of(r.index + count, mtu, random_)
                                       : u32(random_.below(u64{kMostBytes} + 1));
}

void RequesterPsnStimulus::make_answer(Packet& p) {
  const SendPsns& s = p.before;
  const u32 sent = psns_between(s.unacked_psn, s.sent_psn);
  Psn& psn = p.request.psn;
  switch (random_.below(16)) {
    case 0:
      psn = psn_sub(s.unacked_psn, 1);
      break;
    case 1:
      psn = s.sent_psn;
      break;
    case 2:
      psn = u32(random_()) & kPsnMask;
      break;
    case 3:
      psn = psn_sub(s.unacked_psn, 2 + u32(random_.below(8)));
      break;
    case 4:
      psn = psn_add(s.unacked_psn, kPsnWindow);
      break;
    default:
      psn = sent ? psn_add(s.unacked_psn, around(sent - 1)) : s.unacked_psn;
  }
}

void RequesterPsnStimulus::choose_step(Packet& p) {
  const SendPsns& s = p.before;
  const bool sends = s.send_psn != s.next_psn || s.anything_unacked();
  const u64 kind = random_.below(32);
  PsnStep& step = p.request.step;
  p.request.psn = u32(random_()) & kPsnMask;
  p.request.index = u32(random_()) & kPsnMask;
  p.request.kind = PsnKind(random_.below(3));
  p.request.byte_len = u32(random_.below(u64{kMostBytes} + 1));
  if (device::is_ee(p.of->qpn) && random_.chance(1, 8))
    step = PsnStep::Resync;
  else if (kind == 0)
    step = PsnStep::Start;
  else if (kind < 3)
    step = PsnStep::Timeout;
  else if (kind < 8) {
    step = PsnStep::Acknowledge;
    make_answer(p);
  } else if (kind < 12) {
    step = PsnStep::GoBack;
    make_answer(p);
  } else if (kind < 20 || !sends) {
    step = PsnStep::Message;
    make_message(p);
  } else {
    step = PsnStep::Packet;
    make_packet(p);
  }
}

RequesterPsnPacket RequesterPsnStimulus::next() {
  Packet p;
  p.number = made_++;
  p.gap = regime_.gap(random_);
  if (p.number % 256 == 0) late_percent_ = std::array<u32, 4>{0, 0, 10, 60}[random_.below(4)];
  if (random_.chance(late_percent_, 100)) p.context_late = 1 + random_.below(20);
  if (!random_.chance(1, 2)) last_ = u32(random_.below(kQps));
  if (!qps_[last_] || random_.chance(1, 40)) qps_[last_] = new_qp();
  p.of = qps_[last_];
  PsnQp& qp = *p.of;
  p.before = qp.ahead;
  p.config.path_mtu = qp.path_mtu;
  choose_step(p);
  if (!qp.steps++) p.fresh = qp.ahead;
  step_psns(qp.ahead, p.request, qp.path_mtu);
  if (qp.last) {
    p.distance = u32(made_ - qp.last);
    p.step_before = qp.last_step;
  }
  qp.last = made_;
  qp.last_step = p.request.step;
  p.what = fmt::format("{} of PSN {:#x} at {}, {}, {} bytes",
                       blocks::kPsnStepNames[std::size_t(p.request.step)], p.request.psn,
                       p.request.index, blocks::kPsnKindNames[std::size_t(p.request.kind)],
                       p.request.byte_len);
  return p;
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The queue pairs, SRQs and P_Keys of the requests that the checker gets.
#include <algorithm>

#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
using namespace proto;

ResponderCheckStimulus::ResponderCheckStimulus(u64 seed, GivenFrames given, Rotation& turns)
    : random_(seed), given_(std::move(given)), turns_(turns) {
  qps_.resize(kQps);
  srqs_.resize(kSrqs);
  xrc_srqs_.resize(kXrcSrqs);
}

// Both kinds of members, invalid keys, and partitions that differ in one bit.
void ResponderCheckStimulus::draw_pkeys() {
  auto port = std::make_shared<PortAttributes>();
  for (u16& pkey : port->pkeys) {
    pkey = u16(random_());
    if (random_.chance(1, 8)) pkey &= 0x8000;
    if (random_.chance(1, 4)) pkey = u16(port->pkeys[0] ^ 1u << random_.below(16));
  }
  port_ = std::move(port);
  has_rd_ = given_.any() || random_.chance(7, 8);
}

// WQEs posted beyond those taken: as many as credits advertise, few, any number.
u32 ResponderCheckStimulus::choose_posted() {
  constexpr std::array<u32, 10> kFree{0, 1, 2, 3, 4, 5, 6, 31, 32, 33};
  if (random_.chance(1, 32)) return u32(random_());
  if (random_.chance(1, 64)) return 1u << random_.below(32);
  if (random_.chance(1, 8)) return 0;
  if (random_.chance(1, 3)) return one_of(random_, kCredits) - u32(random_.below(2));
  return one_of(random_, kFree);
}

// Any value, or one close to where it wraps.
u32 ResponderCheckStimulus::near(u32 value, u32 range) {
  return random_.chance(1, 2) ? u32(random_()) : value - u32(random_.below(range));
}

// The number of no existing queue pair or SRQ, but often one bit away from one.
u32 ResponderCheckStimulus::new_number() {
  for (;;) {
    u32 number = u32(random_.below(kMulticastQp - 2)) + 2;
    const auto& like = qps_[random_.below(kQps)];
    if (like && random_.chance(1, 2))
      number = device::eecn_of(like->config.qpn) ^ (1u << random_.below(24));
    if (number <= kQp1 || number == kMulticastQp || !numbers_.take(number)) continue;
    return number;
  }
}

// Mostly one bit away from the number of another SRQ, each bit in its turn.
u32 ResponderCheckStimulus::new_srqn() {
  const auto& like = (random_.chance(1, 2) ? srqs_ : xrc_srqs_)[random_.below(kSrqs)];
  if (!like || random_.chance(1, 8)) return new_number();
  for (u32 bit = 0; bit < 24; ++bit) {
    const u32 number = like->srqn ^ 1u << turns_.next("SRQN", 24, random_);
    if (number && numbers_.take(number)) return number;
  }
  return new_number();
}

std::shared_ptr<CheckedSrq> ResponderCheckStimulus::new_srq(u32 srqn, u32 domain) {
  auto srq = std::make_shared<CheckedSrq>();
  srq->srqn = srqn;
  srq->ahead.allocated = true;
  srq->ahead.xrcd = domain;
  srq->ahead.taken = near(2, 6);
  srq->ahead.pd = u32(random_());
  const u32 limit = random_.chance(3, 4)   ? u32(random_.below(4))
                    : random_.chance(1, 2) ? 1u << random_.below(32)
                                           : u32(random_());
  srq->ahead.limit = random_.chance(1, 2) ? limit : 0;
  srq->twin = srq->ahead;
  return srq;
}

// Half of the queue pairs have an SRQ.
void ResponderCheckStimulus::choose_own_queue(CheckedQp& qp) {
  if (random_.chance(1, 2)) return;
  auto& srq = srqs_[random_.below(kSrqs)];
  if (!srq || random_.chance(1, 4)) srq = new_srq(new_srqn(), 0);
  qp.srq = srq;
  qp.config.srqn = srq->srqn;
  qp.ahead.rq_consumed = 0;
}

// Mostly a domain that an SRQ has.
void ResponderCheckStimulus::choose_xrc_side(QpConfig& c) {
  c.side = random_.chance(1, 24) ? QpSide::Initiator : QpSide::Target;
  const auto& srq = xrc_srqs_[random_.below(kXrcSrqs)];
  c.xrcd = srq && srq->ahead.xrcd && random_.chance(3, 4) ? srq->ahead.xrcd
                                                          : 1 + u32(random_.below(~u32{0}));
  c.options.xrc_pd = random_.chance(1, 2) ? XrcPd::Srq : XrcPd::TgtDomain;
  c.options.xrc_srq_change = random_.chance(1, 2) ? XrcSrqChange::Refuse : XrcSrqChange::Ignore;
}

std::shared_ptr<CheckedSrq> ResponderCheckStimulus::find_srq(u32 srqn) {
  for (const auto* list : {&srqs_, &xrc_srqs_})
    for (const auto& srq : *list)
      if (srq && srq->srqn == srqn) return srq;
  return nullptr;
}

// An SRQ of XRC of this domain: one that is there, or a new one.
std::shared_ptr<CheckedSrq> ResponderCheckStimulus::srq_of_domain(u32 domain, bool is_new) {
  const auto first = xrc_srqs_.begin() + std::ptrdiff_t(random_.below(kXrcSrqs));
  std::rotate(xrc_srqs_.begin(), first, xrc_srqs_.end());
  for (const auto& srq : xrc_srqs_)
    if (srq && srq->ahead.xrcd == domain && !is_new) return srq;
  return xrc_srqs_.front() = new_srq(new_srqn(), domain);
}

// The number in XRCETH and the SRQ that the request uses: within a message that of its first
// packet, at its begin one of the queue pair's domain; else of another domain or of none.
void ResponderCheckStimulus::choose_xrc_queue(Packet& p, const OpcodeRow& row) {
  p.srq = p.of->srq;
  if (p.qp.service != Service::Xrc) return;
  const ReceiveState& s = p.of->ahead;
  const bool inside = s.message != InMessage::None && !begins_message(row.position);
  u32 domain = p.qp.xrcd;
  if (odd(1, 16)) domain ^= 1u << turns_.next("XRC domain", 32, random_);
  const bool is_new = s.message != InMessage::None ? odd(1, 2) : random_.chance(1, 4);
  p.named_srq = inside ? s.xrc_srqn : srq_of_domain(domain, is_new)->srqn;
  if (odd(1, inside ? 3 : 24)) p.named_srq ^= 1u << turns_.next("XRCETH", 24, random_);
  if (inside && turns(Turned::Queue)) p.named_srq ^= 1u << next_bit(24);
  const auto& other = srqs_[random_.below(kSrqs)];
  if (other && odd(1, 24)) p.named_srq = other->srqn;
  if (row.has(Ext::XrcEth)) p.srq = find_srq(inside ? s.xrc_srqn : p.named_srq);
}

std::shared_ptr<CheckedQp> ResponderCheckStimulus::new_qp() {
  constexpr std::array kServicesOf{Service::Rc,  Service::Rc,  Service::Uc,  Service::Uc,
                                   Service::Ud,  Service::Ud,  Service::Ud,  Service::Xrc,
                                   Service::Xrc, Service::Xrc, Service::Xrc, Service::Rd,
                                   Service::Rd,  Service::Rd,  Service::Rd};
  constexpr std::array<u16, 8> kMtus{256, 256, 256, 256, 512, 1024, 2048, 4096};
  auto qp = std::make_shared<CheckedQp>();
  QpConfig& c = qp->config;
  c.allocated = true;
  do c.service = one_of(random_, kServicesOf);
  while (c.service == Service::Rd && !has_rd_);
  c.reliable = is_reliable(c.service);
  if (c.service != Service::Rd) c.qpn = new_number();
  bool like_qp0 = false;
  if (c.service == Service::Ud && random_.chance(2, 3)) {  // one bit away from QP 0 or QP 1
    const u32 turn = turns_.next("QPN", 2 * 24, random_), like = turn / 24 ^ 1u << turn % 24;
    if (like > kQp1 && numbers_.take(like)) {
      c.qpn = like;
      like_qp0 = turn < 24;
    }
  }
  if (c.service == Service::Ud && random_.chance(1, 2)) {
    const u32 special = u32(random_.below(2));
    if (!special_used_[special] || special_used_[special] + kRequestsFarApart < made_) {
      bool taken = false;
      for (const auto& other : qps_) taken = taken || (other && other->config.qpn == special);
      if (!taken) c.qpn = special;
    }
  }
  // The lane of QP 0 is judged only in native framings.
  const bool native = (c.qpn == kQp0 || like_qp0) && random_.chance(3, 4);
  const StreamRow stream = native ? kStreams[random_.below(2)] : one_of(random_, kStreams);
  AddressVector& av = qp->address;
  av = random_address(random_, stream.framing, stream.vlan);
  if (random_.chance(1, 24)) av.source_gid.bytes[0] = 0xff;  // multicast
  if (random_.chance(1, 24)) av.destination_gid = make_gid(0, random_.below(4));
  if (stream.framing == Framing::RoceV2Ip4) av.source_gid = gid_of_ipv4(u32(random_()));
  if (stream.framing == Framing::RoceV2Ip4) av.destination_gid = gid_of_ipv4(u32(random_()));
  c.access = random_.chance(3, 4) ? kEveryRight : Rights(random_());
  c.path_mtu = one_of(random_, kMtus);
  c.max_dest_rd_atomic = u8(random_.chance(1, 8) ? random_() : random_.below(4));
  c.min_rnr_timer = u8(random_.below(32));
  c.pkey = u16(random_.chance(1, 16) ? random_() & 0x8000 : random_());
  c.qkey = u32(random_());
  c.pd = u32(random_());
  c.options.credits = random_.chance(2, 3);
  c.options.gap_after_rnr = random_.chance(1, 2) ? GapAfterRnr::Drop : GapAfterRnr::Nak;
  c.options.congestion_control = random_.chance(1, 2);
  c.options.new_get_offset = random_.chance(1, 4) ? NewGetOffset::Take : NewGetOffset::Refuse;
  c.options.put_response_length =
      random_.chance(1, 4) ? PutResponseLength::Refuse : PutResponseLength::Ignore;
  c.options.put_change = random_.chance(1, 4) ? PutChange::Ignore : PutChange::Refuse;
  for (const CapabilityRow& row : kCapabilities) c.options.*row.has = random_.chance(3, 4);
  c.path = make_path(av);
  ReceiveState& s = qp->ahead;
  constexpr std::array<u32, 3> kPsns{2, 0x800002, 0x1000002};
  s.epsn = near(one_of(random_, kPsns), 4) & kPsnMask;
  s.msn = near(0x1000001, 4) & kPsnMask;
  const bool has_own_queue = c.service != Service::Xrc && c.service != Service::Rd;
  s.rq_consumed = has_own_queue ? near(2, 6) : 0;
  s.reads_accepted = near(2, 4);
  s.shared_wqe = u32(random_());
  s.shared_taken = near(2, 4);
  if (c.service == Service::Xrc)
    choose_xrc_side(c);
  else if (c.service == Service::Rd)
    make_ee_context(*qp);
  else
    choose_own_queue(*qp);
  qp->twin = s;
  return qp;
}

void ResponderCheckStimulus::choose_qp(Packet& p) {
  if (!random_.chance(1, 2)) last_ = u32(random_.below(kQps));
  std::shared_ptr<CheckedQp>& qp = qps_[last_];
  const bool lost = qp && qp->config.side == QpSide::EeContext && !has_rd_;
  const bool ends = qp && (lost || random_.chance(1, 40) ||
                           (qp->ahead.failing && (plain_ || random_.chance(1, 2))));
  if (!qp || ends) qp = new_qp();
  p.of = qp;
  p.qp = qp->config;
  if (qp->config.qpn < 2) special_used_[qp->config.qpn] = made_ + 1;
}
}  // namespace hca::testbench

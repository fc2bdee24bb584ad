// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/malice/bench.h"

#include <stdexcept>

#include "model/proto/psn.h"
#include "model/proto/qp_transitions.h"

namespace hca::testbench::malice {
using namespace proto;

namespace {
constexpr u64 kMac = 0x020000000001, kPeerMac = 0x020000000002;
constexpr u32 kIp = 0x0a000001, kPeerIp = 0x0a000002;
constexpr u32 kPeerQpn = 0x21;

void must(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}
}  // namespace

Bench::Bench(const ReplayRunner& runner)
    : device_(runner.make(options_for(runner))),
      verbs(device_->memory(),
            [this](u32 offset, std::span<const u8> data) { device_->mmio_write(offset, data); }) {
  verbs.set_step([this] { return device_->run(), false; });
  PortAttributes port{};
  port.framing = u8(Framing::RoceV2Ip4), port.mtu = 4096, port.mac = kMac;
  port.gids[0] = gid_of_ipv4(kIp);
  must(verbs.set_port(port) == Error::None, "the port is refused");
  own_pd_ = verbs.alloc_pd(), stranger_pd_ = verbs.alloc_pd();
  cq_ = verbs.create_cq(64);
  for (std::size_t who = 0; who < kWho; ++who) make(Who(who)), restore(Who(who));
}

void Bench::make(Who who) {
  QpInitAttr init;
  init.send_cq = init.recv_cq = cq_, init.pd = pd_of(who);
  init.max_send_wr = init.max_recv_wr = 16;
  ends_[std::size_t(who)].qp = verbs.create_qp(init);
  must(ends_[std::size_t(who)].qp, "a queue pair is refused");
}

void Bench::restore(Who who) {
  End& end = ends_[std::size_t(who)];
  QpAttributes q{};
  const auto to = [&](QpState state, u32 mask) {
    q.state = state, q.mask = kQpState | mask;
    must(verbs.modify_qp(*end.qp, q) == Error::None, "a transition is refused");
  };
  if (end.qp->state != QpState::Reset) to(QpState::Reset, 0);
  q.port = 1, q.access = kRemoteWrite | kRemoteRead | kRemoteAtomic;
  to(QpState::Init, kQpPkeyIndex | kQpPort | kQpAccess);
  q.path_mtu = kPathMtu, q.dest_qpn = kPeerQpn, q.rq_psn = q.sq_psn = kFirstPsn;
  q.max_dest_rd_atomic = 4, q.min_rnr_timer = 12;
  q.dmac = kPeerMac, q.dgid_low = u64{0xffff} << 32 | kPeerIp, q.hop_limit = 64;
  q.udp_source_port = 0xC000;
  to(QpState::Rtr,
     kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer);
  q.timeout = 14, q.retry_count = q.rnr_retry = 7, q.max_rd_atomic = 4;
  to(QpState::Rts, kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic);
  end.expected = end.next = kFirstPsn;
  completions(), sent();
}

void Bench::took_request(Who who) {
  u32& psn = ends_[std::size_t(who)].expected;
  psn = psn_add(psn, 1);
}
void Bench::sent_request(Who who) {
  u32& psn = ends_[std::size_t(who)].next;
  psn = psn_add(psn, 1);
}

Frame Bench::frame(u8 opcode, u32 psn, const ExtHeaders& ext, u32 payload) const {
  const OpcodeRow& row = *opcode_row(opcode);
  AddressVector av;
  av.source_mac = kPeerMac, av.destination_mac = kMac;
  av.source_gid = gid_of_ipv4(kPeerIp), av.destination_gid = gid_of_ipv4(kIp);
  const Path path = make_path(av);
  Bth bth{};
  bth.pkey = 0xffff, bth.dest_qp = ends_[0].qp->qpn, bth.psn = psn, bth.ack_req = row.is_request;
  Frame out(frame_bytes(path, row, payload));
  const u32 at = write_headers(path, row, bth, ext, payload, out.data(), 0);
  for (u32 i = 0; i < payload; ++i) out[at + i] = u8(i + 1);
  finish_frame(out.data(), shape_of(path, row, payload));
  return out;
}

void Bench::give(const Frame& frame) {
  device_->inject(frame);
  device_->run();
}

std::vector<Wc> Bench::completions() {
  std::vector<Wc> all(64);
  all.resize(verbs.poll_cq(*cq_, all));
  return all;
}

ParsedPacket parsed(const Frame& frame) {
  ParsedPacket packet;
  must(parse(frame, LinkLayer::Ethernet, packet) == PacketVerdict::Good, "a frame is malformed");
  return packet;
}

std::vector<u8> payload_of(const Frame& frame) {
  const ParsedPacket p = parsed(frame);
  return {frame.begin() + p.payload_offset, frame.begin() + p.payload_offset + p.payload_bytes};
}
}  // namespace hca::testbench::malice

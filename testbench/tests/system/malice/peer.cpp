// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/peer.h"

#include <algorithm>
#include <stdexcept>

#include "model/proto/transport/qp_transitions.h"

namespace hca::testbench::malice {
using namespace proto;

namespace {
constexpr u64 kMac = 0x020000000001, kPeerMac = 0x020000000002;
constexpr u32 kIp = 0x0a000001, kPeerIp = 0x0a000002;
}  // namespace

void must(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

void set_port(VerbsContext& verbs) {
  PortAttributes port{};
  port.framing = u8(Framing::RoceV2Ip4), port.mtu = 4096, port.mac = kMac;
  port.gids[0] = gid_of_ipv4(kIp);
  must(verbs.set_port(port) == Error::None, "the port is refused");
}

namespace {
QpAttributes attributes_of(u32 psn, u32 peer, u32 rdd) {
  QpAttributes q{};
  q.port = 1, q.access = kRemoteWrite | kRemoteRead | kRemoteAtomic;
  q.path_mtu = kPathMtu, q.dest_qpn = peer, q.rq_psn = q.sq_psn = psn;
  q.max_dest_rd_atomic = 4, q.min_rnr_timer = 12;
  q.dmac = kPeerMac, q.dgid_low = u64{0xffff} << 32 | kPeerIp, q.hop_limit = 64;
  q.udp_source_port = 0xC000, q.qkey = kPeerQkey, q.rdd = rdd;
  q.timeout = 14, q.retry_count = q.rnr_retry = 7, q.max_rd_atomic = 4;
  return q;
}
// What each transition requires, and of the rest `also`.
template <class Modify>
void go_to_rts(Services kind, u32 also, QpAttributes q, const Modify& modify) {
  QpState from = QpState::Reset;
  for (const QpState state : {QpState::Init, QpState::Rtr, QpState::Rts}) {
    const QpTransition& t = *find_transition(kind, std::exchange(from, state), state);
    q.state = state, q.mask = t.required | (t.optional & also);
    must(modify(q) == Error::None, "a transition is refused");
  }
}
}  // namespace

void connect(VerbsContext& verbs, Qp& qp, u32 psn, u32 peer_qpn, u32 rdd) {
  QpAttributes q = attributes_of(psn, peer_qpn, rdd);
  q.state = QpState::Reset, q.mask = kQpState;
  if (qp.state != QpState::Reset) must(verbs.modify_qp(qp, q) == Error::None, "Reset is refused");
  const u32 also = rdd ? kQpAccess | kQpMinRnrTimer : 0;
  go_to_rts(kind_of(qp.cap.service, qp.cap.side), also, q,
            [&](const QpAttributes& a) { return verbs.modify_qp(qp, a); });
}

void connect_context(VerbsContext& verbs, u32 eecn, u32 psn, u32 peer_eecn, u32 rdd) {
  QpAttributes q = attributes_of(psn, peer_eecn, rdd);
  q.state = QpState::Reset, q.mask = kQpState;
  must(verbs.modify_eec(eecn, q) == Error::None, "Reset is refused");
  go_to_rts(kEeContext, 0, q, [&](const QpAttributes& a) { return verbs.modify_eec(eecn, a); });
}

Frame peer_frame(u32 qpn, const OpcodeRow& row, u32 psn, const ExtHeaders& ext,
                 std::span<const u8> payload) {
  AddressVector av;
  av.source_mac = kPeerMac, av.destination_mac = kMac;
  av.source_gid = gid_of_ipv4(kPeerIp), av.destination_gid = gid_of_ipv4(kIp);
  const Path path = make_path(av);
  Bth bth{};
  bth.pkey = 0xffff, bth.dest_qp = qpn, bth.psn = psn, bth.ack_req = row.is_request;
  const u32 bytes = u32(payload.size());
  Frame out(frame_bytes(path, row, bytes));
  const u32 at = write_headers(path, row, bth, ext, bytes, out.data(), 0);
  std::copy(payload.begin(), payload.end(), out.begin() + at);
  finish_frame(out.data(), shape_of(path, row, bytes));
  return out;
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

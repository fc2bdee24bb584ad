// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/rx_parser_lockstep.h"

#include "testbench/lockstep/describe.h"

namespace hca::testbench {
namespace {
using namespace proto;

void put_addresses(const blocks::ParsedFrame& f, AddressVector& out) {
  const Addressing& a = f.addressing;
  out.framing = f.packet.framing;
  out.source_mac = a.source_mac, out.destination_mac = a.destination_mac;
  out.has_vlan = a.has_vlan, out.priority = a.priority, out.vlan_id = a.vlan_id;
  out.source_lid = a.slid, out.destination_lid = a.dlid;
  out.service_level = a.service_level, out.virtual_lane = a.virtual_lane;
  out.source_gid = a.source_gid, out.destination_gid = a.destination_gid;
  out.traffic_class = a.traffic_class, out.flow_label = a.flow_label, out.hop_limit = a.hop_limit;
  out.udp_source_port = a.udp_source_port;
}
void put_ext(const ParsedPacket& p, ExtHeaders& out) {
  if (p.has(Ext::Rdeth)) out.rdeth = p.rdeth;
  if (p.has(Ext::Deth)) out.deth = p.deth;
  if (p.has(Ext::XrcEth)) out.xrc_eth = p.xrc_eth;
  if (p.has(Ext::Eoeth)) out.eoeth = p.eoeth;
  if (p.has(Ext::Feth)) out.feth = p.feth;
  if (p.has(Ext::Reth)) out.reth = p.reth;
  if (p.has(Ext::AtomicEth)) out.atomic_eth = p.atomic_eth;
  if (p.has(Ext::Aeth)) out.aeth = p.aeth;
  if (p.has(Ext::AtomicAckEth)) out.atomic_ack_eth = p.atomic_ack_eth;
  if (p.has(Ext::ImmDt)) out.imm_dt = p.imm_dt;
  if (p.has(Ext::Ieth)) out.ieth = p.ieth;
}
}  // namespace

void RxParserCounts::count(const RxParserPacket& p) {
  using enum PacketVerdict;
  const PacketVerdict v = p.parsed.verdict;
  good += v == Good, reserved += v == ReservedOpcode, bad_crc += v == BadIcrc || v == BadVcrc;
  bad += v != Good && v != ReservedOpcode && v != BadIcrc && v != BadVcrc;
  late += p.parsed.headers == Good && v != Good && v != BadIcrc && v != BadVcrc;
}

std::string RxParserCounts::text() const {
  return fmt::format(
      "good {}, of reserved opcodes {}, bad CRCs {}, bad {}, of them {} by their end", good,
      reserved, bad_crc, bad, late);
}

void RxParserLockstep::set_side_band(const Packet& p, In& control) {
  const bool native = is_native(p.stream.framing);
  if (control.first) control.framing = u8(native ? Framing::IbLocal : Framing::RoceV2Ip4);
  if (control.last) control.icrc_ok = p.icrc_ok, control.vcrc_ok = p.vcrc_ok;
}

rtl::BeatOf<rtl::Parsed> RxParserLockstep::expected(const Packet& p, u32 index, u32 beat_bytes) {
  const blocks::ParsedFrame& f = p.parsed;
  rtl::BeatOf<Out> beat;
  Out& c = beat.control;
  c.address = {}, c.address.hop_limit = 0, c.address.udp_source_port = 0;
  c.address.framing = Framing::IbLocal;
  c.first = index == 0, c.last = (index + 1) * beat_bytes >= p.frame.size();
  c.verdict = c.last ? f.verdict : f.headers;
  c.payload_bytes = u16(f.payload_bytes());
  const u32 from = index * beat_bytes;
  c.bytes = u8(std::min(f.payload_bytes() - std::min(from, f.payload_bytes()), beat_bytes));
  if (c.bytes)
    std::copy_n(f.whole.begin() + f.packet.payload_offset + from, c.bytes, beat.data.begin());
  if (!f.has_transport()) return beat;
  c.bth = f.packet.bth;
  put_addresses(f, c.address);
  if (f.headers == PacketVerdict::Good) put_ext(f.packet, c);
  return beat;
}

std::string RxParserLockstep::describe(const Packet& p, bool left) {
  std::string verdict;
  if (left)
    verdict = fmt::format("; {} ({})", verdict_row(p.parsed.verdict).name,
                          verdict_row(p.parsed.verdict).statement);
  return fmt::format("packet {}: {}{}; {} bytes{}{}\n", p.number, p.what, verdict, p.frame.size(),
                     headers_of(p.frame, p.link()), hex_dump(p.frame));
}
}  // namespace hca::testbench

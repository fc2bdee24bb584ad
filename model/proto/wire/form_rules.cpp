// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/form_rules.h"

#include "model/proto/memory/key.h"
#include "model/proto/transport/multicast.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/syndrome.h"

namespace hca::proto {
namespace {

using enum Operation;
using enum Position;
using enum Grade;

constexpr u32 kMaxMtu = 4096;
constexpr u32 kMaxMessage = 1u << 31;

bool is_loopback(const Gid& gid) {
  Gid loopback{};
  loopback.bytes[15] = 1;
  return gid == loopback;
}

bool has_gids(const FormView& v) {
  return v.dissection.has_network && v.packet.framing != Framing::IbLocal;
}
bool has_udp(const FormView& v) {
  return v.packet.framing == Framing::RoceV2Ip4 || v.packet.framing == Framing::RoceV2Ip6;
}
bool native(const FormView& v) { return v.dissection.has_network && is_native(v.packet.framing); }
// True: the packet's opcode has this header, and the frame contains it whole.
bool has(const FormView& v, Ext ext) { return v.opcode.has(ext) && v.dissection.holds(ext); }
bool is_datagram(const FormView& v) { return v.opcode.service == Service::Ud; }
bool is_congestion(const FormView& v) { return v.opcode.operation == CongestionNotification; }
// True for RC, UC, RD and XRC: the services whose addresses are validated.
bool is_connected(const FormView& v) { return !is_datagram(v) && !is_congestion(v); }
bool ends_message(const FormView& v) {
  return v.opcode.position == Last || v.opcode.position == Only;
}
u32 payload(const FormView& v) { return v.packet.payload_bytes; }
u32 dest_qp(const FormView& v) { return v.packet.bth.dest_qp; }

bool may_solicit(const FormView& v) {
  return ends_message(v) &&
         (v.opcode.operation == Send || (v.opcode.operation == Write && v.opcode.has(Ext::ImmDt)));
}

// clang-format off
constexpr std::array kFormRules{
  FormRule{"BTH-5", Broken, "SE is set, but this is not the last or only packet of a SEND or of an RDMA WRITE with Immediate",
           "a must of the sender: it raises events at the wrong time",
           [](const FormView& v) { return v.packet.bth.solicited && v.opcode.is_request && !may_solicit(v); }},
  FormRule{"G4.6", Broken, "SE or A is set in a response",
           "a must of the responder",
           [](const FormView& v) { return !v.opcode.is_request && !is_congestion(v) && (v.packet.bth.solicited || v.packet.bth.ack_req); }},
  FormRule{"G14.1", Broken, "A is set in a UC packet",
           "a must of the requester: UC has no ACKs",
           [](const FormView& v) { return v.opcode.service == Service::Uc && v.packet.bth.ack_req; }},
  FormRule{"BTH-10", Broken, "PadCnt is not 0 in a packet that must be exactly PMTU long",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::FullMtu && v.packet.bth.pad_count != 0; }},
  FormRule{"T7-l1", Broken, "the payload of a First or Middle packet is no path MTU (256, 512, 1024, 2048 or 4096 bytes)",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::FullMtu && !is_mtu(payload(v)); }},
  FormRule{"T7-l2", Broken, "the payload is larger than any path MTU",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::UpToMtu && payload(v) > kMaxMtu; }},
  FormRule{"T7-l3", Broken, "the payload of a Last packet is empty or larger than any path MTU",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::OneToMtu && (payload(v) == 0 || payload(v) > kMaxMtu); }},
  FormRule{"T7-l4", Broken, "a payload or a PadCnt where the opcode has none",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::None && payload(v) + v.packet.bth.pad_count != 0; }},
  FormRule{"T7-l5", Broken, "an ATOMIC WRITE does not carry 8 bytes",
           "a must: the responder refuses it",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::Eight && payload(v) != 8; }},
  FormRule{"EXT-8", Broken, "a GET request carries more than 256 bytes",
           "a must of the requester",
           [](const FormView& v) { return v.opcode.payload == PayloadRule::UpTo256 && payload(v) > 256; }},
  FormRule{"C9-9", Broken, "DMALen is above 2^31",
           "a must: the responder refuses it",
           [](const FormView& v) { return has(v, Ext::Reth) && v.packet.reth.dma_len > kMaxMessage; }},
  FormRule{"T7-l8", Broken, "DMALen of an RDMA WRITE Only is not its payload, or that of a First is not larger than its payload",
           "a must: the responder refuses it",
           [](const FormView& v) {
             if (v.opcode.operation != Write || !has(v, Ext::Reth)) return false;
             return v.opcode.position == Only ? v.packet.reth.dma_len != payload(v) : v.packet.reth.dma_len <= payload(v);
           }},
  FormRule{"ATOM-6", Broken, "the VA of an ATOMIC is not a multiple of 8",
           "a must: the responder refuses it",
           [](const FormView& v) { return has(v, Ext::AtomicEth) && v.packet.atomic_eth.va % 8 != 0; }},
  FormRule{"EXT-15", Broken, "PLT names no placement or a reserved one, or SEL is reserved",
           "reserved values, not reserved bits: the responder refuses the FLUSH",
           [](const FormView& v) { return has(v, Ext::Feth) && request::bad_flush(v.packet); }},
  FormRule{"EXT-18", Broken, "the VA of an operation on 8 bytes is not a multiple of 8, or its DMALen is not 8",
           "a must: the responder refuses it",
           [](const FormView& v) {
             return v.opcode.traits().exact_bytes && has(v, Ext::Reth) && (v.packet.reth.va % 8 != 0 || v.packet.reth.dma_len != 8);
           }},
  FormRule{"T5-3", Broken, "the syndrome's kind is reserved",
           "a reserved value, not a reserved bit: the requester cannot act on it",
           [](const FormView& v) { return has(v, Ext::Aeth) && syndrome_kind(v.packet.aeth.syndrome) == SyndromeKind::Reserved; }},
  FormRule{"T5-11", Broken, "the NAK code is reserved",
           "a reserved value, not a reserved bit: the requester cannot act on it",
           [](const FormView& v) {
             return has(v, Ext::Aeth) && syndrome_kind(v.packet.aeth.syndrome) == SyndromeKind::Nak &&
                    syndrome_value(v.packet.aeth.syndrome) >= kNakRows.size();
           }},
  FormRule{"ERR-16", Broken, "the syndrome of a READ response or ATOMIC Acknowledge is not an ACK",
           "a must: the requester ends with a bad response",
           [](const FormView& v) {
             return (v.opcode.operation == ReadResponse || v.opcode.operation == AtomicAcknowledge) && has(v, Ext::Aeth) &&
                    syndrome_kind(v.packet.aeth.syndrome) != SyndromeKind::Ack;
           }},
  FormRule{"G24.4", Broken, "an ACK of XRC carries credits",
           "a must of the responder: XRC has no credits",
           [](const FormView& v) {
             return v.opcode.service == Service::Xrc && has(v, Ext::Aeth) && syndrome_kind(v.packet.aeth.syndrome) == SyndromeKind::Ack &&
                    syndrome_value(v.packet.aeth.syndrome) != kCreditsUnused;
           }},
  FormRule{"G26.2", Broken, "a CNP has BECN 0, a PSN or A 1",
           "a must of the sender of a CNP",
           [](const FormView& v) { return is_congestion(v) && (!v.packet.bth.becn || v.packet.bth.psn != 0 || v.packet.bth.ack_req); }},
  FormRule{"PKEY-15", Broken, "the partition of the P_Key is 0, which never matches",
           "a must: every receiver drops it",
           [](const FormView& v) { return dest_qp(v) != 0 && !pkey_is_valid(v.packet.bth.pkey); }},
  FormRule{"G27.1", Broken, "a packet to QP0 or QP1 is no UD SEND",
           "a must: the receiver drops it",
           [](const FormView& v) { return dest_qp(v) <= 1 && is_connected(v); }},
  FormRule{"C9-49", Broken, "a packet to QP1 has another Q_Key than 0x80010000",
           "a must: the receiver drops it",
           [](const FormView& v) { return is_datagram(v) && has(v, Ext::Deth) && dest_qp(v) == 1 && v.packet.deth.qkey != kQp1Qkey; }},
  FormRule{"G27.2", Broken, "a packet to QP0 does not travel on VL15",
           "a must: the receiver drops it",
           [](const FormView& v) { return native(v) && dest_qp(v) == 0 && v.addressing.virtual_lane != kQp0Lane; }},
  FormRule{"G27.3", Broken, "a packet to another QP than QP0 travels on VL15",
           "a must: the receiver drops it",
           [](const FormView& v) { return native(v) && dest_qp(v) != 0 && v.addressing.virtual_lane == kQp0Lane; }},
  FormRule{"C9-56", Broken, "the SLID is a multicast LID",
           "a must: the receiver drops it",
           [](const FormView& v) { return native(v) && is_multicast_lid(v.addressing.slid); }},
  FormRule{"C9-55", Broken, "a packet to another QP than QP0 has the permissive DLID",
           "a must: the receiver drops it",
           [](const FormView& v) { return native(v) && v.addressing.dlid == kPermissiveLid && dest_qp(v) != 0; }},
  FormRule{"VAL-7", Broken, "the SGID is a multicast or the loopback GID",
           "a must: the receiver drops it",
           [](const FormView& v) {
             return has_gids(v) && is_connected(v) && (is_multicast(v.addressing.source_gid) || is_loopback(v.addressing.source_gid));
           }},
  FormRule{"VAL-5", Broken, "the DGID is the reserved or the loopback GID",
           "a must: the receiver drops it",
           [](const FormView& v) {
             return has_gids(v) && is_connected(v) && (v.addressing.destination_gid == Gid{} || is_loopback(v.addressing.destination_gid));
           }},
  FormRule{"C9-58", Broken, "a packet to QP 0xFFFFFF is not UD or has no GRH with a multicast DGID",
           "a must: the receiver drops it",
           [](const FormView& v) {
             if (dest_qp(v) != kMulticastQp || has_udp(v) || !v.dissection.has_network) return false;
             return !is_datagram(v) || !has_gids(v) || !is_multicast(v.addressing.destination_gid);
           }},
  FormRule{"G34.4", Remark, "the UDP source port is below 0xC000",
           "a recommendation for the spread of flows: receivers take any port",
           [](const FormView& v) { return has_udp(v) && !is_congestion(v) && !is_roce_source_port(v.addressing.udp_source_port); }},
  FormRule{"G34.4", Broken, "DF is 0",
           "a must of the sender: fragments are dropped",
           [](const FormView& v) {
             return v.dissection.has_network && v.packet.framing == Framing::RoceV2Ip4 && !decode<Ipv4>(v.frame + v.packet.network_offset).dont_fragment;
           }},
  FormRule{"G34.3", Broken, "the IPv6 packet is a fragment",
           "a must: the receiver drops it",
           [](const FormView& v) { return v.dissection.is_fragment; }},
  FormRule{"G34.3", Remark, "extension headers stand between the IPv6 header and UDP",
           "no statement forbids them, but a receiver that asks the IPv6 header for UDP drops the packet",
           [](const FormView& v) { return v.dissection.has_extensions && !v.dissection.is_fragment; }},
};
// clang-format on

void add_reserved_bits(std::span<const u8> frame, const Dissection& d,
                       std::vector<BrokenRule>& out) {
  for (const HeaderPlace& place : d)
    for (const FieldInfo& f : *place.header)
      if (f.is_reserved && !f.statement.empty() &&
          get_bits(frame.data() + place.offset, f.bit_at, f.bits) != 0)
        out.push_back({f.statement,
                       std::string(place.header->name) + "." + std::string(f.name) + " is not 0",
                       Remark, kReservedBitsReason});
}

bool is_manufacturers(const Dissection& d) {
  return d.structure == PacketVerdict::ReservedOpcode &&
         d.packet.bth.opcode >= kFirstManufacturerOpcode;
}

// Without a network header: checks the UDP header, if there is one.
Addressing addressing_in(std::span<const u8> frame, const Dissection& d) {
  if (d.has_network) return addressing_of(frame.data(), d.packet);
  Addressing out{};
  out.udp_source_port = kFirstUdpSourcePort;
  for (const HeaderPlace& place : d)
    if (place.header->name == Layout<Udp>::name)
      out.udp_source_port = decode<Udp>(frame.data() + place.offset).source_port;
  return out;
}

void add_verdict(PacketVerdict verdict, std::vector<BrokenRule>& out) {
  const VerdictRow& row = verdict_row(verdict);
  out.push_back({row.statement, std::string(row.sentence), Broken, kVerdictReason});
}

}  // namespace

std::span<const FormRule> form_rules() { return kFormRules; }

std::vector<BrokenRule> broken_rules(std::span<const u8> frame, const Dissection& d) {
  std::vector<BrokenRule> out;
  if (verdict_row(d.structure).is_foreign) return out;
  if (is_manufacturers(d))
    out.push_back({"BTH-4", "the OpCode is a manufacturer's", Remark, kManufacturerReason});
  else if (d.structure != PacketVerdict::Good)
    add_verdict(d.structure, out);
  if (d.has_icrc && !d.icrc_is_good) add_verdict(PacketVerdict::BadIcrc, out);
  if (d.has_icrc && is_native(d.packet.framing) && !d.vcrc_is_good)
    add_verdict(PacketVerdict::BadVcrc, out);
  add_reserved_bits(frame, d, out);
  if (d.structure != PacketVerdict::Good) return out;
  const FormView view{frame.data(), d, d.packet, *d.packet.opcode, addressing_in(frame, d)};
  for (const FormRule& rule : kFormRules)
    if (rule.broken(view))
      out.push_back({rule.statement, std::string(rule.sentence), rule.grade, rule.reason});
  return out;
}

}  // namespace hca::proto

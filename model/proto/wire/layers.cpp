// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/layers.h"

#include "model/proto/wire/framing.h"
#include "model/proto/wire/print.h"

namespace hca::proto {
namespace {

using Bytes = std::span<const u8>;

struct NumberRow {
  u16 number;
  Layer layer;
  std::string_view kind;  // text for Layer::Other
};

constexpr u16 kFirstEtherType = 0x600;  // smaller values are lengths
constexpr u16 kErspan2Protocol = 0x88BE, kErspan3Protocol = 0x22EB;

constexpr std::array kEtherTypes{
    NumberRow{kEtherTypeIpv4, Layer::Ipv4, {}},
    NumberRow{kEtherTypeIpv6, Layer::Ipv6, {}},
    NumberRow{kEtherTypeRoce, Layer::Grh, {}},
    NumberRow{kEtherTypeVlan, Layer::Vlan, {}},
    NumberRow{0x88A8, Layer::Vlan, {}},
    NumberRow{0x9100, Layer::Vlan, {}},
    NumberRow{0x9200, Layer::Vlan, {}},
    NumberRow{0x8847, Layer::Mpls, {}},
    NumberRow{0x8848, Layer::Mpls, {}},
    NumberRow{0x6558, Layer::Ethernet, {}},
    NumberRow{kErspan2Protocol, Layer::Erspan2, {}},
    NumberRow{kErspan3Protocol, Layer::Erspan3, {}},
    NumberRow{0x0806, Layer::Other, "ARP"},
    NumberRow{0x8808, Layer::Other, "PAUSE or PFC"},
    NumberRow{0x8809, Layer::Other, "LACP"},
    NumberRow{0x8863, Layer::Other, "PPPoE discovery"},
    NumberRow{0x8864, Layer::Pppoe, {}},
    NumberRow{0x888E, Layer::Other, "EAPOL"},
    NumberRow{0x88CC, Layer::Other, "LLDP"},
    NumberRow{0x88E5, Layer::Other, "MACsec"},
    NumberRow{0x88E7, Layer::Other, "PBB (802.1ah)"},
    NumberRow{0x88F7, Layer::Other, "PTP"},
    NumberRow{0x8906, Layer::Other, "FCoE"},
    NumberRow{0x8914, Layer::Other, "FIP"},
    NumberRow{0x894F, Layer::Other, "NSH"},
};
constexpr std::array kIpProtocols{
    NumberRow{kIpProtocolUdp, Layer::Udp, {}},
    NumberRow{4, Layer::Ipv4, {}},
    NumberRow{41, Layer::Ipv6, {}},
    NumberRow{47, Layer::Gre, {}},
    NumberRow{137, Layer::Mpls, {}},
    NumberRow{143, Layer::Ethernet, {}},
    NumberRow{0, Layer::HopByHop, {}},
    NumberRow{1, Layer::Other, "ICMP"},
    NumberRow{2, Layer::Other, "IGMP"},
    NumberRow{6, Layer::Other, "TCP"},
    NumberRow{43, Layer::Routing, {}},
    NumberRow{44, Layer::Fragment, {}},
    NumberRow{50, Layer::Other, "ESP"},
    NumberRow{51, Layer::Other, "AH"},
    NumberRow{58, Layer::Other, "ICMPv6"},
    NumberRow{59, Layer::Other, "nothing after IPv6"},
    NumberRow{60, Layer::DestinationOptions, {}},
    NumberRow{89, Layer::Other, "OSPF"},
    NumberRow{132, Layer::Other, "SCTP"},
};
constexpr std::array kPppProtocols{
    NumberRow{0x0021, Layer::Ipv4, {}},
    NumberRow{0x0057, Layer::Ipv6, {}},
    NumberRow{0x0281, Layer::Mpls, {}},
    NumberRow{0xC021, Layer::Other, "LCP of PPP"},
};
constexpr std::array kUdpPorts{
    NumberRow{kRoceUdpPort, Layer::Bth, {}}, NumberRow{4789, Layer::Vxlan, {}},
    NumberRow{4790, Layer::Vxlan, {}},       NumberRow{8472, Layer::Vxlan, {}},
    NumberRow{6081, Layer::Geneve, {}},      NumberRow{6635, Layer::Mpls, {}},
};

NextLayer by_number(std::span<const NumberRow> rows, u16 number, u32 bytes, std::string other) {
  for (const NumberRow& row : rows)
    if (row.number == number) return {row.layer, bytes, std::string(row.kind)};
  return {Layer::Other, bytes, std::move(other)};
}
NextLayer by_ether_type(u16 type, u32 bytes) {
  if (type < kFirstEtherType) return {Layer::Llc, bytes};
  return by_number(kEtherTypes, type, bytes, "EtherType " + hex_text(type, 4));
}
NextLayer by_ip_protocol(u8 protocol, u32 bytes) {
  return by_number(kIpProtocols, protocol, bytes, "IP protocol " + std::to_string(protocol));
}

template <class H>
NextLayer by_type_of(Bytes rest) {
  return by_ether_type(decode<H>(rest.data()).type, bytes_of<H>());
}
template <class H>
NextLayer by_protocol_of(Bytes rest) {
  return by_ether_type(decode<H>(rest.data()).protocol, bytes_of<H>());
}

NextLayer after_lrh(Bytes rest) {
  constexpr u32 bytes = bytes_of<Lrh>();
  switch (decode<Lrh>(rest.data()).lnh) {
    case kLnhGlobal:
      return {Layer::Grh, bytes};
    case kLnhLocal:
      return {Layer::Bth, bytes};
    default:
      return {Layer::Other, bytes, "raw packet of InfiniBand"};
  }
}

// The address family of IPv6 differs between systems.
NextLayer after_loopback(Bytes rest) {
  constexpr u32 bytes = bytes_of<Loopback>();
  u32 family = decode<Loopback>(rest.data()).family;
  if (family > 0xFFFF) family = __builtin_bswap32(family);
  for (const u32 known : {2u, 10u, 24u, 28u, 30u})
    if (family == known) return {Layer::Ip, bytes};
  return {Layer::Other, bytes, "address family " + std::to_string(family)};
}

NextLayer by_ip_version(Bytes rest) {
  const u8 version = rest.empty() ? u8(0) : u8(rest[0] >> 4);
  if (version == kIpVersion4) return {Layer::Ipv4, 0};
  constexpr std::size_t kNextHeaderAt = byte_of<Grh>("NxtHdr");
  const bool is_grh = rest.size() > kNextHeaderAt && rest[kNextHeaderAt] == kNextHeaderIba;
  if (version == kIpVersion6) return {is_grh ? Layer::Grh : Layer::Ipv6, 0};
  return {Layer::Other, 0, "neither IPv4 nor IPv6"};
}

NextLayer after_ipv4(Bytes rest) {
  const Ipv4 ip = decode<Ipv4>(rest.data());
  const u32 bytes = std::max<u32>(4u * ip.header_words, bytes_of<Ipv4>());
  if (ip.fragment_offset != 0) return {Layer::Other, bytes, "later fragment of IPv4"};
  return by_ip_protocol(ip.protocol, bytes);
}
NextLayer after_ipv6(Bytes rest) {
  return by_ip_protocol(decode<Ipv6>(rest.data()).next_header, bytes_of<Ipv6>());
}
template <class H>
NextLayer after_options(Bytes rest) {
  const H header = decode<H>(rest.data());
  return by_ip_protocol(header.next_header, 8u * (header.length + 1u));
}
// Only the first fragment contains the headers of the original packet.
NextLayer after_fragment(Bytes rest) {
  const Ipv6Fragment fragment = decode<Ipv6Fragment>(rest.data());
  constexpr u32 bytes = bytes_of<Ipv6Fragment>();
  if (fragment.offset != 0) return {Layer::Other, bytes, "later fragment of IPv6"};
  return by_ip_protocol(fragment.next_header, bytes);
}

constexpr u8 kSnapSap = 0xAA, kUnnumbered = 0x03;
NextLayer after_llc(Bytes rest) {
  const Llc llc = decode<Llc>(rest.data());
  if (llc.dsap != kSnapSap || llc.ssap != kSnapSap || llc.control != kUnnumbered)
    return {Layer::Other, bytes_of<Llc>(), "LLC"};
  return {Layer::Snap, bytes_of<Llc>()};
}
// Numbers of other organizations are private to them.
NextLayer after_snap(Bytes rest) {
  constexpr u32 kBridgeTunnel = 0xF8;
  const Snap snap = decode<Snap>(rest.data());
  if (snap.organization == 0 || snap.organization == kBridgeTunnel)
    return by_ether_type(snap.type, bytes_of<Snap>());
  return {Layer::Other, bytes_of<Snap>(), "SNAP of OUI " + hex_text(snap.organization, 6)};
}
NextLayer after_pppoe(Bytes rest) {
  constexpr u32 at = bytes_of<Pppoe>();
  if (rest.size() < at + 2) return {Layer::Other, at, "ends before its headers do"};
  const bool is_short = rest[at] & 1;  // the upper byte, which is 0, was left out
  const u16 protocol = is_short ? rest[at] : u16(load_be<2>(rest.data() + at));
  return by_number(kPppProtocols, protocol, at + (is_short ? 1 : 2),
                   "PPP protocol " + hex_text(protocol, 4));
}
// A GRH occurs only in IBA and RoCE: another NxtHdr is an error.
NextLayer after_grh(Bytes) { return {Layer::Bth, bytes_of<Grh>()}; }

NextLayer after_udp(Bytes rest) {
  const u16 port = decode<Udp>(rest.data()).destination_port;
  return by_number(kUdpPorts, port, bytes_of<Udp>(), "UDP port " + std::to_string(port));
}

NextLayer after_mpls(Bytes rest) {
  const bool last = decode<MplsEntry>(rest.data()).is_bottom;
  return {last ? Layer::Pseudowire : Layer::Mpls, bytes_of<MplsEntry>()};
}

bool is_ethernet(Bytes rest) {
  if (rest.size() < bytes_of<Ethernet>()) return false;
  const NextLayer next = by_type_of<Ethernet>(rest);
  return next.layer == Layer::Other ? !next.kind.starts_with("EtherType")
                                    : next.layer != Layer::Llc;
}
// MPLS does not name its payload: IP by its first digit, else Ethernet; after a control word only
// if that makes its EtherType a known one.
NextLayer after_labels(Bytes rest) {
  if (const NextLayer ip = by_ip_version(rest); ip.layer != Layer::Other && !is_ethernet(rest))
    return ip;
  if (is_ethernet(rest)) return {Layer::Ethernet, 0};
  constexpr u32 word = bytes_of<ControlWord>();
  if (rest.size() > word && rest[0] >> 4 == 0 && is_ethernet(rest.subspan(word)))
    return {Layer::ControlWord, 0};
  return {Layer::Other, 0, "MPLS with an unknown content"};
}
NextLayer after_control_word(Bytes) { return {Layer::Ethernet, bytes_of<ControlWord>()}; }

NextLayer after_gre(Bytes rest) {
  const Gre gre = decode<Gre>(rest.data());
  const u32 bytes =
      bytes_of<Gre>() + 4u * (gre.has_checksum + u32(gre.has_key) + u32(gre.has_sequence));
  if (gre.version != 0 || gre.has_routing) return {Layer::Other, bytes, "GRE with routing or PPTP"};
  // ERSPAN type I has neither sequence number nor header.
  if (gre.protocol == kErspan2Protocol && !gre.has_sequence) return {Layer::Ethernet, bytes};
  return by_ether_type(gre.protocol, bytes);
}

NextLayer after_vxlan(Bytes rest) {
  constexpr u8 kHasNextProtocol = 0x04;
  constexpr u32 bytes = bytes_of<Vxlan>();
  const Vxlan vxlan = decode<Vxlan>(rest.data());
  if (!(vxlan.flags & kHasNextProtocol)) return {Layer::Ethernet, bytes};
  constexpr std::array layers{NumberRow{1, Layer::Ipv4, {}}, NumberRow{2, Layer::Ipv6, {}},
                              NumberRow{3, Layer::Ethernet, {}}, NumberRow{4, Layer::Other, "NSH"},
                              NumberRow{5, Layer::Mpls, {}}};
  return by_number(layers, vxlan.next_protocol, bytes, "VXLAN-GPE with an unknown content");
}

NextLayer after_geneve(Bytes rest) {
  const Geneve geneve = decode<Geneve>(rest.data());
  const u32 bytes = bytes_of<Geneve>() + 4u * geneve.option_words;
  if (geneve.version != 0) return {Layer::Other, bytes, "GENEVE of an unknown version"};
  return by_ether_type(geneve.protocol, bytes);
}

NextLayer after_erspan2(Bytes) { return {Layer::Ethernet, bytes_of<Erspan2>()}; }
NextLayer after_erspan3(Bytes rest) {
  constexpr u32 kSubheaderBytes = 8;
  constexpr u8 kEthernetFrame = 0, kIpPacket = 2;
  const Erspan3 erspan = decode<Erspan3>(rest.data());
  const u32 bytes = bytes_of<Erspan3>() + (erspan.has_subheader ? kSubheaderBytes : 0);
  if (erspan.frame_type == kEthernetFrame) return {Layer::Ethernet, bytes};
  if (erspan.frame_type == kIpPacket) return {Layer::Ip, bytes};
  return {Layer::Other, bytes, "ERSPAN III with an unknown content"};
}

// clang-format off
constexpr std::array kLayerRows{
  LayerRow{Layer::Ethernet,    &kHeaderInfo<Ethernet>,    by_type_of<Ethernet>},
  LayerRow{Layer::Lrh,         &kHeaderInfo<Lrh>,         after_lrh},
  LayerRow{Layer::Sll,         &kHeaderInfo<Sll>,         by_protocol_of<Sll>},
  LayerRow{Layer::Sll2,        &kHeaderInfo<Sll2>,        by_protocol_of<Sll2>},
  LayerRow{Layer::Loopback,    &kHeaderInfo<Loopback>,    after_loopback},
  LayerRow{Layer::Ip,          nullptr,                   by_ip_version},
  LayerRow{Layer::Ipv4,        &kHeaderInfo<Ipv4>,        after_ipv4},
  LayerRow{Layer::Ipv6,        &kHeaderInfo<Ipv6>,        after_ipv6},
  LayerRow{Layer::Grh,         &kHeaderInfo<Grh>,         after_grh},
  LayerRow{Layer::Udp,         &kHeaderInfo<Udp>,         after_udp},
  LayerRow{Layer::Bth,         nullptr,                   nullptr},
  LayerRow{Layer::Vlan,        &kHeaderInfo<Vlan>,        by_type_of<Vlan>},
  LayerRow{Layer::Mpls,        &kHeaderInfo<MplsEntry>,   after_mpls},
  LayerRow{Layer::Pseudowire,  nullptr,                   after_labels},
  LayerRow{Layer::ControlWord, &kHeaderInfo<ControlWord>, after_control_word},
  LayerRow{Layer::Gre,         &kHeaderInfo<Gre>,         after_gre},
  LayerRow{Layer::Vxlan,       &kHeaderInfo<Vxlan>,       after_vxlan},
  LayerRow{Layer::Geneve,      &kHeaderInfo<Geneve>,      after_geneve},
  LayerRow{Layer::Erspan2,     &kHeaderInfo<Erspan2>,     after_erspan2},
  LayerRow{Layer::Erspan3,     &kHeaderInfo<Erspan3>,     after_erspan3},
  LayerRow{Layer::Llc,         &kHeaderInfo<Llc>,         after_llc},
  LayerRow{Layer::Snap,        &kHeaderInfo<Snap>,        after_snap},
  LayerRow{Layer::Pppoe,       &kHeaderInfo<Pppoe>,       after_pppoe},
  LayerRow{Layer::HopByHop,    &kHeaderInfo<HopByHop>,    after_options<HopByHop>},
  LayerRow{Layer::Routing,     &kHeaderInfo<Routing>,     after_options<Routing>},
  LayerRow{Layer::DestinationOptions, &kHeaderInfo<DestinationOptions>, after_options<DestinationOptions>},
  LayerRow{Layer::Fragment,    &kHeaderInfo<Ipv6Fragment>, after_fragment},
  LayerRow{Layer::Other,       nullptr,                   nullptr},
};
// clang-format on
static_assert([] {
  for (std::size_t i = 0; i < kLayerRows.size(); ++i)
    if (std::size_t(kLayerRows[i].layer) != i) return false;
  return kLayerRows.size() == std::size_t(Layer::Other) + 1;
}());

}  // namespace

const LayerRow& layer_row(Layer layer) { return kLayerRows[std::size_t(layer)]; }

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// The headers before a BTH: link layer and network layer (T2).
#pragma once
#include "model/proto/wire/layout.h"

namespace hca::proto {

struct Lrh {
  u8 vl;
  u8 lver;
  u8 sl;
  u8 lnh;
  u16 dlid;
  u16 pkt_len;  // 4-byte words, LRH to ICRC
  u16 slid;
};
template <>
struct Layout<Lrh> {
  static constexpr std::string_view name = "LRH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Lrh::vl,      "VL",     4, Show::Dec, Icrc::Variant),
      field(&Lrh::lver,    "LVer",   4, Show::Dec),
      field(&Lrh::sl,      "SL",     4, Show::Dec),
      reserved("Resv2", 2, "T12-1"),
      field(&Lrh::lnh,     "LNH",    2, Show::Dec),
      field(&Lrh::dlid,    "DLID",   16),
      reserved("Resv5", 5, "T12-1"),
      field(&Lrh::pkt_len, "PktLen", 11, Show::Dec),
      field(&Lrh::slid,    "SLID",   16));
  // clang-format on
};

struct Grh {
  u8 ip_ver;
  u8 tclass;
  u32 flow_label;
  u16 pay_len;  // bytes after the GRH, to the ICRC
  u8 nxt_hdr;
  u8 hop_lmt;
  Gid sgid;
  Gid dgid;
};
template <>
struct Layout<Grh> {
  static constexpr std::string_view name = "GRH";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Grh::ip_ver,     "IPVer",     4, Show::Dec),
      field(&Grh::tclass,     "TClass",    8, Icrc::Variant),
      field(&Grh::flow_label, "FlowLabel", 20, Icrc::Variant),
      field(&Grh::pay_len,    "PayLen",    16, Show::Dec),
      field(&Grh::nxt_hdr,    "NxtHdr",    8),
      field(&Grh::hop_lmt,    "HopLmt",    8, Show::Dec, Icrc::Variant),
      field(&Grh::sgid,       "SGID",      128, Show::Gid),
      field(&Grh::dgid,       "DGID",      128, Show::Gid));
  // clang-format on
};

struct Ethernet {
  u64 destination;  // 48 bits
  u64 source;       // 48 bits
  u16 type;
};
template <>
struct Layout<Ethernet> {
  static constexpr std::string_view name = "Ethernet";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Ethernet::destination, "Destination", 48, Show::Mac),
      field(&Ethernet::source,      "Source",      48, Show::Mac),
      field(&Ethernet::type,        "EtherType",   16));
  // clang-format on
};

// The bytes after EtherType 0x8100: the tag and the inner EtherType.
struct Vlan {
  u8 priority;
  bool drop_eligible;
  u16 vlan_id;
  u16 type;
};
template <>
struct Layout<Vlan> {
  static constexpr std::string_view name = "VLAN";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Vlan::priority,      "PCP",       3, Show::Dec),
      field(&Vlan::drop_eligible, "DEI",       1),
      field(&Vlan::vlan_id,       "VID",       12, Show::Dec),
      field(&Vlan::type,          "EtherType", 16));
  // clang-format on
};

struct Ipv4 {
  u8 version;
  u8 header_words;
  u8 tos;  // DSCP and ECN
  u16 total_length;
  u16 id;
  bool reserved_flag;
  bool dont_fragment;
  bool more_fragments;
  u16 fragment_offset;
  u8 ttl;
  u8 protocol;
  u16 checksum;
  u32 source;
  u32 destination;
};
template <>
struct Layout<Ipv4> {
  static constexpr std::string_view name = "IPv4";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Ipv4::version,         "Version",        4, Show::Dec),
      field(&Ipv4::header_words,    "IHL",            4, Show::Dec),
      field(&Ipv4::tos,             "TOS",            8, Icrc::Variant),
      field(&Ipv4::total_length,    "TotalLength",    16, Show::Dec),
      field(&Ipv4::id,              "Identification", 16),
      field(&Ipv4::reserved_flag,   "Reserved",       1),
      field(&Ipv4::dont_fragment,   "DF",             1),
      field(&Ipv4::more_fragments,  "MF",             1),
      field(&Ipv4::fragment_offset, "FragmentOffset", 13, Show::Dec),
      field(&Ipv4::ttl,             "TTL",            8, Show::Dec, Icrc::Variant),
      field(&Ipv4::protocol,        "Protocol",       8, Show::Dec),
      field(&Ipv4::checksum,        "HeaderChecksum", 16, Icrc::Variant),
      field(&Ipv4::source,          "Source",         32, Show::Ipv4),
      field(&Ipv4::destination,     "Destination",    32, Show::Ipv4));
  // clang-format on
};

struct Ipv6 {
  u8 version;
  u8 traffic_class;
  u32 flow_label;
  u16 payload_length;
  u8 next_header;
  u8 hop_limit;
  Gid source;
  Gid destination;
};
template <>
struct Layout<Ipv6> {
  static constexpr std::string_view name = "IPv6";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Ipv6::version,        "Version",       4, Show::Dec),
      field(&Ipv6::traffic_class,  "TrafficClass",  8, Icrc::Variant),
      field(&Ipv6::flow_label,     "FlowLabel",     20, Icrc::Variant),
      field(&Ipv6::payload_length, "PayloadLength", 16, Show::Dec),
      field(&Ipv6::next_header,    "NextHeader",    8, Show::Dec),
      field(&Ipv6::hop_limit,      "HopLimit",      8, Show::Dec, Icrc::Variant),
      field(&Ipv6::source,         "Source",        128, Show::Gid),
      field(&Ipv6::destination,    "Destination",   128, Show::Gid));
  // clang-format on
};

struct Udp {
  u16 source_port;
  u16 destination_port;
  u16 length;
  u16 checksum;
};
template <>
struct Layout<Udp> {
  static constexpr std::string_view name = "UDP";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Udp::source_port,      "SourcePort",      16, Show::Dec),
      field(&Udp::destination_port, "DestinationPort", 16, Show::Dec),
      field(&Udp::length,           "Length",          16, Show::Dec),
      field(&Udp::checksum,         "Checksum",        16, Icrc::Variant));
  // clang-format on
};

static_assert(bytes_of<Lrh>() == 8 && bytes_of<Grh>() == 40);
static_assert(bytes_of<Ethernet>() == 14 && bytes_of<Vlan>() == 4);
static_assert(bytes_of<Ipv4>() == 20 && bytes_of<Ipv6>() == 40 && bytes_of<Udp>() == 8);

}  // namespace hca::proto

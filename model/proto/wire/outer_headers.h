// SPDX-License-Identifier: Apache-2.0
// Headers around a RoCE packet in captures: of a recorder's link layer, of tags and of tunnels. The
// device itself neither sends nor accepts them.
#pragma once
#include "model/proto/wire/ipv6_extensions.h"

namespace hca::proto {

// "Linux cooked": the link layer of the `any` device of a Linux host (link type 113).
struct Sll {
  u16 packet_type, arphrd, address_bytes;
  u64 address;
  u16 protocol;  // an EtherType
};
template <>
struct Layout<Sll> {
  static constexpr std::string_view name = "SLL";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Sll::packet_type,   "PacketType",    16, Show::Dec),
      field(&Sll::arphrd,        "ARPHRD",        16, Show::Dec),
      field(&Sll::address_bytes, "AddressLength", 16, Show::Dec),
      field(&Sll::address,       "Address",       64),
      field(&Sll::protocol,      "EtherType",     16));
  // clang-format on
};

// Linux cooked version 2 (link type 276).
struct Sll2 {
  u16 protocol;
  u32 interface_index;
  u16 arphrd;
  u8 packet_type, address_bytes;
  u64 address;
};
template <>
struct Layout<Sll2> {
  static constexpr std::string_view name = "SLL2";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Sll2::protocol,        "EtherType",      16),
      reserved("Reserved", 16, ""),
      field(&Sll2::interface_index, "InterfaceIndex", 32, Show::Dec),
      field(&Sll2::arphrd,          "ARPHRD",         16, Show::Dec),
      field(&Sll2::packet_type,     "PacketType",     8, Show::Dec),
      field(&Sll2::address_bytes,   "AddressLength",  8, Show::Dec),
      field(&Sll2::address,         "Address",        64));
  // clang-format on
};

// BSD loopback (link types 0 and 108): the address family in the recorder's byte order.
struct Loopback {
  u32 family;
};
template <>
struct Layout<Loopback> {
  static constexpr std::string_view name = "loopback";
  static constexpr auto fields = make_rows(field(&Loopback::family, "Family", 32));
};

struct MplsEntry {
  u32 label;
  u8 traffic_class;
  bool is_bottom;
  u8 ttl;
};
template <>
struct Layout<MplsEntry> {
  static constexpr std::string_view name = "MPLS";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&MplsEntry::label,         "Label", 20, Show::Dec),
      field(&MplsEntry::traffic_class, "TC",    3, Show::Dec),
      field(&MplsEntry::is_bottom,     "S",     1),
      field(&MplsEntry::ttl,           "TTL",   8, Show::Dec));
  // clang-format on
};

// The control word of an Ethernet pseudowire, after the labels.
struct ControlWord {
  u16 flags, sequence;
};
template <>
struct Layout<ControlWord> {
  static constexpr std::string_view name = "control word";
  static constexpr auto fields = make_rows(field(&ControlWord::flags, "Flags", 16),
                                           field(&ControlWord::sequence, "Sequence", 16));
};

// RFC 2784 and 2890; checksum, key and sequence number follow if their bits are set.
struct Gre {
  bool has_checksum, has_routing, has_key, has_sequence;
  u8 version;
  u16 protocol;
};
template <>
struct Layout<Gre> {
  static constexpr std::string_view name = "GRE";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Gre::has_checksum, "C",        1),
      field(&Gre::has_routing,  "R",        1),
      field(&Gre::has_key,      "K",        1),
      field(&Gre::has_sequence, "S",        1),
      reserved("Reserved", 9, ""),
      field(&Gre::version,      "Version",  3, Show::Dec),
      field(&Gre::protocol,     "Protocol", 16));
  // clang-format on
};

struct Vxlan {
  u8 flags;
  u32 vni;
  u8 next_protocol;  // VXLAN-GPE only, else reserved
};
template <>
struct Layout<Vxlan> {
  static constexpr std::string_view name = "VXLAN";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Vxlan::flags,         "Flags",        8),
      reserved("Reserved", 16, ""),
      field(&Vxlan::next_protocol, "NextProtocol", 8, Show::Dec),
      field(&Vxlan::vni,           "VNI",          24, Show::Dec),
      reserved("Reserved2", 8, ""));
  // clang-format on
};

// RFC 8926; options follow.
struct Geneve {
  u8 version, option_words;
  bool is_control, is_critical;
  u16 protocol;
  u32 vni;
};
template <>
struct Layout<Geneve> {
  static constexpr std::string_view name = "GENEVE";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Geneve::version,      "Version",      2, Show::Dec),
      field(&Geneve::option_words, "OptionLength", 6, Show::Dec),
      field(&Geneve::is_control,   "O",            1),
      field(&Geneve::is_critical,  "C",            1),
      reserved("Reserved", 6, ""),
      field(&Geneve::protocol,     "Protocol",     16),
      field(&Geneve::vni,          "VNI",          24, Show::Dec),
      reserved("Reserved2", 8, ""));
  // clang-format on
};

struct Erspan2 {
  u8 version;
  u16 vlan_id;
  u8 priority, encapsulation;
  bool is_truncated;
  u16 session;
  u32 index;
};
template <>
struct Layout<Erspan2> {
  static constexpr std::string_view name = "ERSPAN II";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Erspan2::version,       "Version",   4, Show::Dec),
      field(&Erspan2::vlan_id,       "VID",       12, Show::Dec),
      field(&Erspan2::priority,      "COS",       3, Show::Dec),
      field(&Erspan2::encapsulation, "En",        2, Show::Dec),
      field(&Erspan2::is_truncated,  "T",         1),
      field(&Erspan2::session,       "SessionID", 10, Show::Dec),
      reserved("Reserved", 12, ""),
      field(&Erspan2::index,         "Index",     20));
  // clang-format on
};

struct Erspan3 {
  u8 version;
  u16 vlan_id;
  u8 priority, quality;
  bool is_truncated;
  u16 session;
  u32 timestamp;
  u16 group_tag;
  bool has_ethernet;
  u8 frame_type, hardware_id;
  bool is_egress;
  u8 granularity;
  bool has_subheader;  // 8 bytes of the platform follow
};
template <>
struct Layout<Erspan3> {
  static constexpr std::string_view name = "ERSPAN III";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Erspan3::version,       "Version",   4, Show::Dec),
      field(&Erspan3::vlan_id,       "VID",       12, Show::Dec),
      field(&Erspan3::priority,      "COS",       3, Show::Dec),
      field(&Erspan3::quality,       "BSO",       2, Show::Dec),
      field(&Erspan3::is_truncated,  "T",         1),
      field(&Erspan3::session,       "SessionID", 10, Show::Dec),
      field(&Erspan3::timestamp,     "Timestamp", 32),
      field(&Erspan3::group_tag,     "SGT",       16),
      field(&Erspan3::has_ethernet,  "P",         1),
      field(&Erspan3::frame_type,    "FT",        5, Show::Dec),
      field(&Erspan3::hardware_id,   "HwID",      6),
      field(&Erspan3::is_egress,     "D",         1),
      field(&Erspan3::granularity,   "Gra",       2, Show::Dec),
      field(&Erspan3::has_subheader, "O",         1));
  // clang-format on
};

// 802.2 in place of an EtherType, and SNAP, which repeats an EtherType.
struct Llc {
  u8 dsap, ssap, control;
};
template <>
struct Layout<Llc> {
  static constexpr std::string_view name = "LLC";
  static constexpr auto fields =
      make_rows(field(&Llc::dsap, "DSAP", 8), field(&Llc::ssap, "SSAP", 8),
                field(&Llc::control, "Control", 8));
};
struct Snap {
  u32 organization;
  u16 type;
};
template <>
struct Layout<Snap> {
  static constexpr std::string_view name = "SNAP";
  static constexpr auto fields =
      make_rows(field(&Snap::organization, "OUI", 24), field(&Snap::type, "EtherType", 16));
};

// RFC 2516, session stage; the protocol number of PPP follows.
struct Pppoe {
  u8 version, type, code;
  u16 session, length;
};
template <>
struct Layout<Pppoe> {
  static constexpr std::string_view name = "PPPoE";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&Pppoe::version,  "Version",     4, Show::Dec),
      field(&Pppoe::type,     "Type",        4, Show::Dec),
      field(&Pppoe::code,     "Code",        8),
      field(&Pppoe::session,  "SessionID",   16),
      field(&Pppoe::length,   "Length",      16, Show::Dec));
  // clang-format on
};

static_assert(bytes_of<Llc>() == 3 && bytes_of<Snap>() == 5 && bytes_of<Pppoe>() == 6);
static_assert(bytes_of<Sll>() == 16 && bytes_of<Sll2>() == 20 && bytes_of<Loopback>() == 4);
static_assert(bytes_of<MplsEntry>() == 4 && bytes_of<ControlWord>() == 4 && bytes_of<Gre>() == 4);
static_assert(bytes_of<Vxlan>() == 8 && bytes_of<Geneve>() == 8);
static_assert(bytes_of<Erspan2>() == 8 && bytes_of<Erspan3>() == 12);

inline constexpr std::array kOuterHeaders{kHeaderInfo<Sll>,         kHeaderInfo<Sll2>,
                                          kHeaderInfo<Loopback>,    kHeaderInfo<MplsEntry>,
                                          kHeaderInfo<ControlWord>, kHeaderInfo<Gre>,
                                          kHeaderInfo<Vxlan>,       kHeaderInfo<Geneve>,
                                          kHeaderInfo<Erspan2>,     kHeaderInfo<Erspan3>,
                                          kHeaderInfo<Llc>,         kHeaderInfo<Snap>,
                                          kHeaderInfo<Pppoe>,       kHeaderInfo<HopByHop>,
                                          kHeaderInfo<Routing>,     kHeaderInfo<DestinationOptions>,
                                          kHeaderInfo<Ipv6Fragment>};

}  // namespace hca::proto

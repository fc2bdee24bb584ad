// SPDX-License-Identifier: Apache-2.0
// The silent drops of a port, one counter per cause (T12, G34.3). QueryDrops returns them.
#pragma once
#include <array>

#include "model/proto/interface/device.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
struct DropCounters {
  // The structure of a frame, in the order of PacketVerdict.
  u64 truncated = 0, unknown_ether_type = 0, raw_packet = 0, bad_lver = 0, bad_ip_version = 0;
  u64 bad_ip_header_length = 0, bad_ip_checksum = 0, fragment = 0, not_udp = 0, bad_udp_port = 0;
  u64 bad_udp_checksum = 0, bad_next_header = 0, bad_length = 0, bad_pad = 0, bad_tver = 0;
  u64 bad_icrc = 0, bad_vcrc = 0;
  // Wrong port or queue pair.
  u64 not_for_port = 0, wrong_vlan = 0, above_mtu = 0, unknown_qp = 0, wrong_port = 0;
  u64 wrong_service = 0, bad_qp_state = 0;
  // Wrong source or destination address.
  u64 multicast_slid = 0, wrong_framing = 0, wrong_sgid = 0, wrong_dgid = 0, wrong_lid = 0;
  u64 bad_pkey = 0;
  // Datagrams.
  u64 bad_qkey = 0, bad_multicast = 0, wrong_vl = 0, no_receive_wqe = 0, receive_too_short = 0;
  u64 port_down = 0;
  u64 bad_ee_context = 0;
};
template <>
struct Layout<DropCounters> {
  using D = DropCounters;
  static constexpr std::string_view name = "drop counters";
  // clang-format off
  static constexpr auto fields = make_rows(
      field(&D::truncated,            "Truncated",         64, "shorter than its headers say"),
      field(&D::unknown_ether_type,   "UnknownEtherType",  64, "neither IP nor RoCE"),
      field(&D::raw_packet,           "RawPacket",         64, "LNH of a raw packet"),
      field(&D::bad_lver,             "BadLver",           64, "LVer"),
      field(&D::bad_ip_version,       "BadIpVersion",      64, "version of IP header or GRH"),
      field(&D::bad_ip_header_length, "BadIpHeaderLength", 64, "IHL"),
      field(&D::bad_ip_checksum,      "BadIpChecksum",     64, "IPv4 header checksum"),
      field(&D::fragment,             "Fragment",          64, "an IP fragment"),
      field(&D::not_udp,              "NotUdp",            64, "another protocol of IP"),
      field(&D::bad_udp_port,         "BadUdpPort",        64, "not 4791"),
      field(&D::bad_udp_checksum,     "BadUdpChecksum",    64, "UDP checksum, if present"),
      field(&D::bad_next_header,      "BadNextHeader",     64, "NxtHdr of the GRH"),
      field(&D::bad_length,           "BadLength",         64, "the lengths of its headers contradict each other"),
      field(&D::bad_pad,              "BadPad",            64, "PadCnt"),
      field(&D::bad_tver,             "BadTver",           64, "TVer"),
      field(&D::bad_icrc,             "BadIcrc",           64, "ICRC"),
      field(&D::bad_vcrc,             "BadVcrc",           64, "VCRC"),
      field(&D::not_for_port,         "NotForPort",        64, "MAC address or LID of another port"),
      field(&D::wrong_vlan,           "WrongVlan",         64, "not in the port's VLAN"),
      field(&D::above_mtu,            "AboveMtu",          64, "payload above the port's MTU"),
      field(&D::unknown_qp,           "UnknownQp",         64, "no such queue pair"),
      field(&D::wrong_port,           "WrongPort",         64, "the queue pair belongs to another port"),
      field(&D::wrong_service,        "WrongService",      64, "another transport service than the queue pair's"),
      field(&D::bad_qp_state,         "BadQpState",        64, "state of the queue pair"),
      field(&D::multicast_slid,       "MulticastSlid",     64, "SLID of a multicast group"),
      field(&D::wrong_framing,        "WrongFraming",      64, "a GRH, or a missing GRH, unlike the queue pair's path; or another IP version"),
      field(&D::wrong_sgid,           "WrongSgid",         64, "source GID or IP address is not the queue pair's peer"),
      field(&D::wrong_dgid,           "WrongDgid",         64, "destination GID or IP address is not the queue pair's own"),
      field(&D::wrong_lid,            "WrongLid",          64, "without a GRH: LIDs other than those of the queue pair's path"),
      field(&D::bad_pkey,             "BadPkey",           64, "P_Key"),
      field(&D::bad_qkey,             "BadQkey",           64, "Q_Key of a datagram"),
      field(&D::bad_multicast,        "BadMulticast",      64, "DestQP 0xFFFFFF without a GRH, with a non-multicast DGID, or with a group without an attached queue pair of the port"),
      field(&D::wrong_vl,             "WrongVl",           64, "QP 0 accepts only packets on VL 15, other queue pairs none on it"),
      field(&D::no_receive_wqe,       "NoReceiveWqe",      64, "a datagram without a posted receive WQE"),
      field(&D::receive_too_short,    "ReceiveTooShort",   64, "a datagram longer than its receive WQE"),
      field(&D::port_down,            "PortDown",          64, "the port is Down"),
      field(&D::bad_ee_context,       "BadEeContext",      64, "RD: no such EE context, or its state (T8)"));
  // clang-format on
};

// The counter for a frame with a bad structure.
constexpr u64 DropCounters::*counter_of(PacketVerdict verdict) {
  using D = DropCounters;
  constexpr std::array members{&D::truncated,        &D::unknown_ether_type,
                               &D::raw_packet,       &D::bad_lver,
                               &D::bad_ip_version,   &D::bad_ip_header_length,
                               &D::bad_ip_checksum,  &D::fragment,
                               &D::not_udp,          &D::bad_udp_port,
                               &D::bad_udp_checksum, &D::bad_next_header,
                               &D::bad_length,       &D::bad_pad,
                               &D::bad_tver};
  if (verdict == PacketVerdict::BadIcrc) return &D::bad_icrc;
  if (verdict == PacketVerdict::BadVcrc) return &D::bad_vcrc;
  return members[std::size_t(verdict) - std::size_t(PacketVerdict::Truncated)];
}
static_assert(counter_of(PacketVerdict::BadTver) == &DropCounters::bad_tver);
static_assert(counter_of(PacketVerdict::BadLver) == &DropCounters::bad_lver);
}  // namespace hca::proto

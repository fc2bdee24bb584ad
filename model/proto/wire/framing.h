// SPDX-License-Identifier: Apache-2.0
// The framings of the transport: the headers before the BTH, and their bytes that the ICRC covers
// (T2).
#pragma once
#include <array>
#include <string_view>

#include "model/proto/wire/crc.h"
#include "model/proto/wire/headers.h"

namespace hca::proto {

enum class LinkLayer : u8 { Ethernet, InfiniBand };

enum class Framing : u8 { IbLocal, IbGlobal, RoceV1, RoceV2Ip4, RoceV2Ip6 };
inline constexpr unsigned kFramingCount = 5;

inline constexpr u16 kEtherTypeVlan = 0x8100;
inline constexpr u16 kEtherTypeIpv4 = 0x0800;
inline constexpr u16 kEtherTypeIpv6 = 0x86DD;
inline constexpr u16 kEtherTypeRoce = 0x8915;
inline constexpr u16 kRoceUdpPort = 4791;
// G34.4: a RoCEv2 packet's UDP source port; the sender chooses it per queue pair.
inline constexpr u16 kFirstUdpSourcePort = 0xC000, kLastUdpSourcePort = 0xFFFF;
inline constexpr std::string_view kUdpSourcePorts = "0xC000 to 0xFFFF";
constexpr bool is_roce_source_port(u64 port) {
  return port >= kFirstUdpSourcePort && port <= kLastUdpSourcePort;
}
inline constexpr u8 kIpProtocolUdp = 17;
inline constexpr u8 kNextHeaderIba = 0x1B;
inline constexpr u8 kLnhGlobal = 3;
inline constexpr u8 kLnhLocal = 2;
inline constexpr u8 kIpVersion4 = 4;
inline constexpr u8 kIpVersion6 = 6;
inline constexpr u8 kIpv4HeaderWords = 5;
inline constexpr unsigned kIcrcBytes = 4;
inline constexpr unsigned kVcrcBytes = 2;
inline constexpr unsigned kFcsBytes = 4;
// Preamble and start delimiter, FCS, gap: link bytes of a frame that the model does not store.
inline constexpr unsigned kEthernetOverhead = 8 + kFcsBytes + 12;
inline constexpr unsigned kMinEthernetFrame =
    60;  // without FCS; shorter ones are padded by the port
// The longest headers before a payload: Ethernet, VLAN, IPv6, UDP, BTH and the longest extensions.
inline constexpr unsigned kMaxHeaderBytes = 128;

// The headers from the first byte that the ICRC covers to the BTH, in order. An LRH before a GRH is
// wholly variant, so the ones that stand for RoCE's missing LRH take its place.
template <Framing F>
struct Covered;
template <class... H>
struct HeaderList {
  static constexpr unsigned bytes = (bytes_of<H>() + ...);
  static constexpr auto mask = [] {
    std::array<u8, bytes> all{};
    std::size_t at = 0;
    auto append = [&](const auto& part) {
      for (u8 byte : part) all[at++] = byte;
    };
    (append(kIcrcMask<H>), ...);
    return all;
  }();
};
template <>
struct Covered<Framing::IbLocal> : HeaderList<Lrh, Bth> {};
template <>
struct Covered<Framing::IbGlobal> : HeaderList<Grh, Bth> {};
template <>
struct Covered<Framing::RoceV1> : HeaderList<Grh, Bth> {};
template <>
struct Covered<Framing::RoceV2Ip4> : HeaderList<Ipv4, Udp, Bth> {};
template <>
struct Covered<Framing::RoceV2Ip6> : HeaderList<Ipv6, Udp, Bth> {};

struct FramingRow {
  Framing framing;
  std::string_view name;
  LinkLayer link;
  u16 covered_header_bytes;  // before the BTH
  u32 icrc_start;            // the CRC before the first covered byte
};
inline constexpr std::array<FramingRow, kFramingCount> kFramingRows{{
    {Framing::IbLocal, "IB local", LinkLayer::InfiniBand, bytes_of<Lrh>(), 0},
    {Framing::IbGlobal, "IB global", LinkLayer::InfiniBand, bytes_of<Grh>(), kCrcOfMaskedLrh},
    {Framing::RoceV1, "RoCEv1", LinkLayer::Ethernet, bytes_of<Grh>(), kCrcOfMaskedLrh},
    {Framing::RoceV2Ip4, "RoCEv2 IPv4", LinkLayer::Ethernet, bytes_of<Ipv4>() + bytes_of<Udp>(),
     kCrcOfMaskedLrh},
    {Framing::RoceV2Ip6, "RoCEv2 IPv6", LinkLayer::Ethernet, bytes_of<Ipv6>() + bytes_of<Udp>(),
     kCrcOfMaskedLrh},
}};
constexpr const FramingRow& framing_row(Framing f) { return kFramingRows[unsigned(f)]; }
constexpr bool is_native(Framing f) { return f == Framing::IbLocal || f == Framing::IbGlobal; }

// The bytes after the last payload or pad byte.
constexpr u32 crc_bytes(Framing f) { return kIcrcBytes + (is_native(f) ? kVcrcBytes : 0); }

// Bytes of its link that a frame takes; `frame_bytes`: without FCS and padding.
constexpr u32 bytes_on_link(u32 frame_bytes, LinkLayer link) {
  return link == LinkLayer::InfiniBand
             ? frame_bytes
             : std::max<u32>(frame_bytes, kMinEthernetFrame) + kEthernetOverhead;
}
constexpr u32 bytes_on_link(u32 frame_bytes, Framing framing) {
  return bytes_on_link(frame_bytes,
                       is_native(framing) ? LinkLayer::InfiniBand : LinkLayer::Ethernet);
}

// The layout of one frame.
struct FrameShape {
  Framing framing;
  u16 network_offset;    // the first byte that the ICRC covers: LRH (no GRH), GRH, IPv4 or IPv6
  u16 transport_offset;  // the BTH
  u16 payload_offset;
  u32 payload_bytes;  // without pad
  u32 icrc_offset;
};

}  // namespace hca::proto

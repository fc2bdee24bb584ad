// SPDX-License-Identifier: Apache-2.0
// A frame as a list of headers, as far as its bytes reach and whatever is wrong with it: for those
// who look at packets.
#pragma once
#include "model/proto/wire/packet.h"

namespace hca::proto {

// What may stand in front of an opcode's extension headers.
inline constexpr std::array kBaseHeaders{
    kHeaderInfo<Lrh>,  kHeaderInfo<Grh>,  kHeaderInfo<Ethernet>, kHeaderInfo<Vlan>,
    kHeaderInfo<Ipv4>, kHeaderInfo<Ipv6>, kHeaderInfo<Udp>,      kHeaderInfo<Bth>};

struct HeaderPlace {
  const HeaderInfo* header;
  u32 offset;  // in the frame
};

struct Dissection {
  PacketVerdict structure = PacketVerdict::Truncated;
  bool has_icrc = false;  // its place is known: the two below mean something
  bool icrc_is_good = false;
  bool vcrc_is_good = false;  // native framings
  ParsedPacket packet{};      // as far as `structure` promises
  std::array<HeaderPlace, 40> headers{};
  u32 header_count = 0;
  bool has_transport = false;  // a BTH is among the headers
  bool has_network = true;     // so is what is before it
  // Between the IPv6 header and UDP: a receiver that asks that header for UDP finds other headers.
  bool has_extensions = false;
  bool is_fragment = false;  // the first one of an IPv6 packet

  const HeaderPlace* begin() const { return headers.data(); }
  const HeaderPlace* end() const { return headers.data() + header_count; }
  bool add(const HeaderInfo& header, u32 offset) {
    if (header_count == headers.size()) return false;
    headers[header_count++] = {&header, offset};
    return true;
  }
  // An extension header is among them.
  bool holds(Ext e) const {
    for (const HeaderPlace& place : *this)
      if (place.header->name == kExtHeaders[unsigned(e)].name) return true;
    return false;
  }
};

Dissection dissect(std::span<const u8> frame, LinkLayer link);

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// A frame as a list of headers, as far as its bytes reach and whatever is wrong with it: for tools
// that show packets.
#pragma once
#include "model/proto/wire/packet.h"

namespace hca::proto {

// The headers that may come before an opcode's extension headers.
inline constexpr std::array kBaseHeaders{
    kHeaderInfo<Lrh>,  kHeaderInfo<Grh>,  kHeaderInfo<Ethernet>, kHeaderInfo<Vlan>,
    kHeaderInfo<Ipv4>, kHeaderInfo<Ipv6>, kHeaderInfo<Udp>,      kHeaderInfo<Bth>};

struct HeaderPlace {
  const HeaderInfo* header;
  u32 offset;  // in the frame
};

struct Dissection {
  PacketVerdict structure = PacketVerdict::Truncated;
  bool has_icrc = false;  // its place is known, so the next two are valid
  bool icrc_is_good = false;
  bool vcrc_is_good = false;  // native framings
  ParsedPacket packet{};      // as far as `structure` promises
  std::array<HeaderPlace, 40> headers{};
  u32 header_count = 0;
  bool has_transport = false;  // the headers contain a BTH
  bool has_network = true;     // and the network header before it
  // There are headers between IPv6 and UDP: a receiver that expects UDP in NextHeader finds others.
  bool has_extensions = false;
  bool is_fragment = false;  // the first fragment of an IPv6 packet

  const HeaderPlace* begin() const { return headers.data(); }
  const HeaderPlace* end() const { return headers.data() + header_count; }
  bool add(const HeaderInfo& header, u32 offset) {
    if (header_count == headers.size()) return false;
    headers[header_count++] = {&header, offset};
    return true;
  }
  // True: the headers contain this extension header.
  bool holds(Ext e) const {
    for (const HeaderPlace& place : *this)
      if (place.header->name == kExtHeaders[unsigned(e)].name) return true;
    return false;
  }
};

Dissection dissect(std::span<const u8> frame, LinkLayer link);

}  // namespace hca::proto

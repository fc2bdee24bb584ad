// SPDX-License-Identifier: Apache-2.0
// What follows what in a captured frame, one row for each header: link layers of recorders, tags,
// tunnels, and the headers of a RoCE or InfiniBand packet up to its BTH.
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/outer_headers.h"

namespace hca::proto {

// What begins at some place of a frame.
enum class Layer : u8 {
  Ethernet,
  Lrh,
  Sll,
  Sll2,
  Loopback,
  Ip,  // version 4 or 6, as its first digit says
  Ipv4,
  Ipv6,
  Grh,
  Udp,
  Bth,
  Vlan,
  Mpls,
  Pseudowire,   // below the last label
  ControlWord,  // of a pseudowire
  Gre,
  Vxlan,
  Geneve,
  Erspan2,
  Erspan3,
  Llc,
  Snap,
  Pppoe,
  HopByHop,  // IPv6 extension headers
  Routing,
  DestinationOptions,
  Fragment,
  Other,  // nothing that is looked into
};

// What a header says of what follows it.
struct NextLayer {
  Layer layer;
  u32 bytes;  // of this header, with its options
  // Other: what it is, in words that count alike frames together.
  std::string kind = {};
};

struct LayerRow {
  Layer layer;
  const HeaderInfo* header;  // nullptr: no bytes of its own
  // `rest`: from the header's first byte to the end of the frame; it holds the header.
  NextLayer (*next)(std::span<const u8> rest);
};
// Of all but Bth and Other.
const LayerRow& layer_row(Layer layer);

}  // namespace hca::proto

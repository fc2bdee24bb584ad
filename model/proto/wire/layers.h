// SPDX-License-Identifier: Apache-2.0
// The successor of each header in a captured frame, one row per header: link layers of recorders,
// tags, tunnels, and the headers of a RoCE or InfiniBand packet up to its BTH.
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/outer_headers.h"

namespace hca::proto {

// The kinds of headers that can begin at some place of a frame.
enum class Layer : u8 {
  Ethernet,
  Lrh,
  Sll,
  Sll2,
  Loopback,
  Ip,  // version 4 or 6, by its first digit
  Ipv4,
  Ipv6,
  Grh,
  Udp,
  Bth,
  Vlan,
  Mpls,
  Pseudowire,   // after the last label
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
  Other,  // not examined further
};

// The layer after a header, as that header announces it.
struct NextLayer {
  Layer layer;
  u32 bytes;  // size of this header, with its options
  // Other: a text for it; frames of one kind have the same text.
  std::string kind = {};
};

struct LayerRow {
  Layer layer;
  const HeaderInfo* header;  // nullptr: no bytes of its own
  // `rest`: from the header's first byte to the end of the frame; it contains the header.
  NextLayer (*next)(std::span<const u8> rest);
};
// Valid for all layers but Bth and Other.
const LayerRow& layer_row(Layer layer);

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/wire/layers.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// parse() of a packet that begins at `offset` with `layer`: Lrh (at 0), Grh, Ipv4, Ipv6. It may
// also begin with Udp or Bth; then framing, network_offset and the ICRC are not valid, as nothing
// before it is known.
PacketVerdict parse_at(const FrameView& frame, Layer layer, u32 offset, ParsedPacket& out);
}  // namespace hca::proto

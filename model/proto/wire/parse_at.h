// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/wire/layers.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// parse() of a packet that begins at `offset` with `layer`: Lrh (at 0), Grh, Ipv4, Ipv6; or with
// Udp or Bth, then nothing before it is known: framing, network_offset and the ICRC mean nothing.
PacketVerdict parse_at(std::span<const u8> frame, Layer layer, u32 offset, ParsedPacket& out);
}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>

#include "model/proto/packet.h"

namespace hca::proto {
// True if the frame's addresses are those of the path with source and destination exchanged (VAL-6,
// C9-47.1.1; LIDs where there is no GRH). IPv4 has its addresses at 12 and 16, IPv6 and the GRH at
// 8 and 24.
inline bool comes_from_peer(const Path& path, const u8* frame, const FrameShape& shape) {
  if (shape.framing != path.framing) return false;
  const u8 *theirs = frame + shape.network_offset, *ours = path.head.data() + path.network_offset;
  const auto crossed = [&](unsigned source, unsigned destination, unsigned bytes) {
    return !std::memcmp(theirs + source, ours + destination, bytes) &&
           !std::memcmp(theirs + destination, ours + source, bytes);
  };
  switch (shape.framing) {
    case Framing::IbLocal:
      return crossed(6, 2, 2);
    case Framing::RoceV2Ip4:
      return crossed(12, 16, 4);
    default:
      return crossed(8, 24, 16);
  }
}

// G34.3: an Ethernet frame is for the port whose MAC address is its destination; InfiniBand has its
// LIDs in the path.
inline bool is_for_port(u64 mac, const u8* frame, const FrameShape& shape) {
  if (is_native(shape.framing)) return true;
  return load_be<4>(frame) == mac >> 16 && load_be<2>(frame + 4) == (mac & 0xffff);
}
}  // namespace hca::proto

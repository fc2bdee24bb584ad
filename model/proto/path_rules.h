// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>

#include "model/proto/packet.h"
#include "model/proto/port_attributes.h"

namespace hca::proto {
inline constexpr u64 kDefaultGidPrefix = 0xfe80'0000'0000'0000;

// VAL-5, VAL-7: a GID of one port of the fabric: no multicast GID, not the loopback GID, not none.
inline bool is_of_one_port(const u8* gid) {
  return (gid[0] != 0xff && (load_be<8>(gid) || load_be<8>(gid + 8) > 1)) ||
         mutant<"gid_kind_unchecked">();
}
// VAL-6, VAL-8: the GID itself, or its low half behind the default prefix.
inline bool names_gid(const u8* found, const u8* gid) {
  return !std::memcmp(found, gid, 16) ||
         (load_be<8>(found) == kDefaultGidPrefix && !std::memcmp(found + 8, gid + 8, 8) &&
          !mutant<"default_prefix_refused">());
}

// True if the frame's addresses are those of the path with source and destination exchanged (VAL-6,
// C9-47.1.1; LIDs where there is no GRH). IPv4 has its addresses at 12 and 16, IPv6 and the GRH at
// 8 and 24.
inline bool comes_from_peer(const Path& path, const u8* frame, const FrameShape& shape) {
  const bool lids_alone = mutant<"grh_presence_ignored">() && path.framing == Framing::IbLocal;
  if (shape.framing != path.framing && !lids_alone) return false;
  if (mutant<"grh_presence_is_enough">()) return true;
  const u8* theirs = frame + (lids_alone ? 0 : shape.network_offset);
  const u8* ours = path.head.data() + path.network_offset;
  const auto crossed = [&](unsigned source, unsigned destination, unsigned bytes) {
    return (!std::memcmp(theirs + source, ours + destination, bytes) ||
            mutant<"source_not_compared">()) &&
           (!std::memcmp(theirs + destination, ours + source, bytes) ||
            mutant<"destination_not_compared">());
  };
  switch (path.framing) {
    case Framing::IbLocal:
      if (mutant<"lid_8_bits">()) return crossed(7, 3, 1);
      return crossed(6, 2, 2) || mutant<"lid_not_compared">();
    case Framing::RoceV2Ip4:
      return crossed(12, 16, 4 - mutant<"ipv4_last_byte_ignored">());
    default:
      if (mutant<"slid_compared_with_grh">() && shape.framing == Framing::IbGlobal &&
          std::memcmp(frame + 6, path.head.data() + 2, 2) != 0)
        return false;
      return is_of_one_port(theirs + 8) && is_of_one_port(theirs + 24) &&
             (names_gid(theirs + 8, ours + 24) || mutant<"source_not_compared">()) &&
             (names_gid(theirs + 24, ours + 8) || mutant<"destination_not_compared">());
  }
}

// LIDs of multicast groups; no packet comes from one (C9-56).
constexpr bool is_multicast_lid(u64 lid) { return lid >= 0xc000 && lid != 0xffff; }

inline bool comes_from_group(const u8* frame, const FrameShape& shape) {
  return is_native(shape.framing) && is_multicast_lid(load_be<2>(frame + 6)) &&
         !mutant<"multicast_slid_taken">();
}

// G34.3, C9-53: the destination of a frame is the port's MAC address or LID.
inline bool is_for_port(const PortAttributes& port, const u8* frame, const FrameShape& shape) {
  if (is_native(shape.framing))
    return load_be<2>(frame + 2) == port.lid || mutant<"destination_not_compared">();
  return load_be<4>(frame) == port.mac >> 16 && load_be<2>(frame + 4) == (port.mac & 0xffff);
}
}  // namespace hca::proto

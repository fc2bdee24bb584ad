// SPDX-License-Identifier: Apache-2.0
// Multicast groups: the datagrams to QP 0xFFFFFF that a port takes, and the queue pairs that get a
// copy (C9-58, C9-59, G25).
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "model/proto/interface/drop_counters.h"
#include "model/proto/transport/path_rules.h"

namespace hca::proto {
// A queue pair that is attached to a group.
struct MulticastMember {
  Gid gid;
  u16 lid = 0;  // native InfiniBand
  u32 qpn = 0;
  friend bool operator==(const MulticastMember&, const MulticastMember&) = default;
};

constexpr bool is_ipv4_mapped(const Gid& gid) {
  constexpr std::array<u8, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), gid.bytes.begin());
}
// ff00::/8, or 224.0.0.0/4.
constexpr bool is_multicast(const Gid& gid) {
  return gid.bytes[0] == 0xff || (is_ipv4_mapped(gid) && gid.bytes[12] >> 4 == 0xe);
}
// G34.5.
inline u64 mac_of_group(const Gid& gid) {
  const u32 low = load_be<4>(gid.bytes.data() + 12);
  return is_ipv4_mapped(gid) ? 0x01005e000000 | (low & 0x7fffff) : 0x333300000000 | low;
}

// True if a member gets a copy of a datagram with this DGID.
inline bool is_member(const MulticastMember& m, const Gid& dgid, const u8* frame,
                      const FrameShape& shape) {
  return m.gid == dgid && (!is_native(shape.framing) || m.lid == load_be<2>(frame + 2));
}

inline bool is_for_group(const Gid& dgid, const u8* frame, const FrameShape& shape) {
  if (is_native(shape.framing)) return is_multicast_lid(load_be<2>(frame + 2));
  return (u64{load_be<4>(frame)} << 16 | load_be<2>(frame + 4)) == mac_of_group(dgid);
}

// The port's checks of a datagram to QP 0xFFFFFF, like port_drop() for other packets (T12-5).
// `is_attached(dgid)`: true if a queue pair of the port gets a copy.
template <class IsAttached>
u64 DropCounters::*multicast_drop(const PortAttributes& port, const u8* frame,
                                  const ParsedPacket& packet, const IsAttached& is_attached) {
  using D = DropCounters;
  const Gid dgid =
      packet.framing == Framing::IbLocal ? Gid{} : addressing_of(frame, packet).destination_gid;
  if (!is_for_group(dgid, frame, packet) && !is_for_port(port, frame, packet))
    return &D::not_for_port;
  if (!is_of_vlan(port, frame, packet)) return &D::wrong_vlan;
  if (packet.payload_bytes > port.mtu) return &D::above_mtu;
  const bool good = packet.framing != Framing::IbLocal && is_multicast(dgid);
  return good && is_attached(dgid) ? nullptr : &D::bad_multicast;
}
}  // namespace hca::proto

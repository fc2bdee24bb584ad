// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>

#include "model/proto/interface/port_attributes.h"
#include "model/proto/memory/key.h"
#include "model/proto/transport/pkey.h"
#include "model/proto/transport/qp.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// PKEY-11: no packet leaves with a P_Key that names no partition; QP 0 has none.
inline bool names_partition(const QpConfig& qp) { return qp.qpn == kQp0 || pkey_is_valid(qp.pkey); }
inline constexpr u64 kDefaultGidPrefix = 0xfe80'0000'0000'0000;

// VAL-5, VAL-7: the GID of one port of the fabric: not multicast, not the loopback GID, not zero.
inline bool is_of_one_port(const u8* gid) {
  return gid[0] != 0xff && (load_be<8>(gid) || load_be<8>(gid + 8) > 1);
}
// VAL-6, VAL-8: `found` is the GID, or the default prefix with its low half.
inline bool names_gid(const u8* found, const u8* gid) {
  return !std::memcmp(found, gid, 16) ||
         (load_be<8>(found) == kDefaultGidPrefix && !std::memcmp(found + 8, gid + 8, 8));
}

// The first address of a frame that does not match a path; T12: steps 8 and 9 in this order.
enum class PathFault : u8 { None, Framing, Sgid, Dgid, MulticastSlid, Lid };

// LIDs of multicast groups; no packet comes from one (C9-56).
inline constexpr u16 kPermissiveLid = 0xffff;
constexpr bool is_multicast_lid(u64 lid) { return lid >= 0xc000 && lid != kPermissiveLid; }

inline bool comes_from_group(const u8* frame, const FrameShape& shape) {
  return is_native(shape.framing) && is_multicast_lid(load_be<2>(frame + 6));
}

// None if the frame's addresses are those of the path with source and destination exchanged (VAL-6,
// C9-47.1.1; LIDs if there is no GRH). The addresses are at 12 and 16 in IPv4, at 8 and 24 in IPv6
// and the GRH.
inline PathFault path_fault(const Path& path, const u8* frame, const FrameShape& shape) {
  if (shape.framing != path.framing) return PathFault::Framing;
  const u8* theirs = frame + shape.network_offset;
  const u8* ours = path.head.data() + path.network_offset;
  const auto source_is = [&](unsigned source, unsigned destination, unsigned bytes) {
    return !std::memcmp(theirs + source, ours + destination, bytes);
  };
  const auto destination_is = [&](unsigned source, unsigned destination, unsigned bytes) {
    return !std::memcmp(theirs + destination, ours + source, bytes);
  };
  switch (path.framing) {
    case Framing::IbLocal: {
      if (comes_from_group(frame, shape)) return PathFault::MulticastSlid;
      const bool good = source_is(6, 2, 2) && destination_is(6, 2, 2);
      return good ? PathFault::None : PathFault::Lid;
    }
    case Framing::RoceV2Ip4: {
      if (!source_is(12, 16, 4)) return PathFault::Sgid;
      return destination_is(12, 16, 4) ? PathFault::None : PathFault::Dgid;
    }
    default:
      if (!is_of_one_port(theirs + 8)) return PathFault::Sgid;
      if (!names_gid(theirs + 8, ours + 24)) return PathFault::Sgid;
      if (!is_of_one_port(theirs + 24)) return PathFault::Dgid;
      if (!names_gid(theirs + 24, ours + 8)) return PathFault::Dgid;
      return comes_from_group(frame, shape) ? PathFault::MulticastSlid : PathFault::None;
  }
}
inline bool comes_from_peer(const Path& path, const u8* frame, const FrameShape& shape) {
  return path_fault(path, frame, shape) == PathFault::None;
}

// True if a packet of a queue pair, or to it, passes the port in its state.
inline bool may_send(const PortAttributes& port, u32 qpn) {
  if (is_active(port)) [[likely]]
    return true;
  return qpn == kQp0 && !is_down(port);
}
inline bool may_receive(const PortAttributes& port, u32 dest_qp) {
  return may_send(port, dest_qp) || port.state == PortState::Armed;
}

// G34.3: the frame has the tag of the port's VLAN; without a VLAN any tag or none is accepted.
inline bool is_of_vlan(const PortAttributes& port, const u8* frame, const FrameShape& shape) {
  if (is_native(shape.framing)) return true;
  const bool tagged = shape.network_offset > bytes_of<Ethernet>();
  if (!port.vlan) return true;
  if (!tagged) return false;
  return decode<Vlan>(frame + bytes_of<Ethernet>()).vlan_id == port.vlan;
}

// The destination of the frame is the port's MAC address or LID.
inline bool names_port(const PortAttributes& port, const u8* frame, const FrameShape& shape) {
  if (is_native(shape.framing)) return !((load_be<2>(frame + 2) ^ port.lid) >> port.lmc);
  return load_be<4>(frame) == port.mac >> 16 && load_be<2>(frame + 4) == (port.mac & 0xffff);
}
// G34.3, C9-53.
inline bool is_for_port(const PortAttributes& port, const u8* frame, const FrameShape& shape) {
  return names_port(port, frame, shape);
}
// C9-55: the permissive LID, only for packets to QP 0.
inline bool is_for_any_port(const u8* frame, const ParsedPacket& packet) {
  return is_native(packet.framing) && load_be<2>(frame + 2) == kPermissiveLid &&
         packet.bth.dest_qp == kQp0;
}
}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// The data of a received datagram beside its payload (G15.3, G15.4).
#pragma once
#include <algorithm>
#include <cstring>

#include "model/proto/interface/drop_counters.h"
#include "model/proto/transport/request_effect.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/link_headers.h"

namespace hca::proto {
// These bytes precede each payload in a receive buffer: a GRH or IPv6 header, or 20 meaningless
// bytes and an IPv4 header. Without a network header all 40 are meaningless.
inline constexpr u32 kDatagramHeaderBytes = bytes_of<Grh>();

constexpr bool has_network_header(Framing framing) { return framing != Framing::IbLocal; }

// Puts the network header before the payload, as it is delivered. This overwrites the headers
// between, which are not needed any more; a frame has room for the 40 bytes after its end.
// `held`: bytes of the payload that are in the frame. Returns by how many they move towards its
// end.
inline u32 prepend_header(u8* frame, u32 held, ParsedPacket& packet, RequestEffect& e) {
  if (is_native(packet.framing)) {
    const auto lrh = decode<Lrh>(frame);
    e.slid = lrh.slid;
    e.sl = lrh.sl;
  }
  std::array<u8, kDatagramHeaderBytes> header{};
  const u32 bytes = packet.framing == Framing::RoceV2Ip4 ? bytes_of<Ipv4>() : kDatagramHeaderBytes;
  if (has_network_header(packet.framing))
    std::memcpy(header.data() + (header.size() - bytes), frame + packet.network_offset, bytes);
  const u32 moves =
      kDatagramHeaderBytes - std::min<u32>(kDatagramHeaderBytes, packet.payload_offset);
  if (moves) {
    std::memmove(frame + kDatagramHeaderBytes, frame + packet.payload_offset, held);
    packet.payload_offset = kDatagramHeaderBytes;
  }
  packet.payload_offset -= kDatagramHeaderBytes;
  packet.payload_bytes += kDatagramHeaderBytes;
  std::memcpy(frame + packet.payload_offset, header.data(), header.size());
  e.has_header = true;
  return moves;
}

// Fills in the fields of a datagram's CQE, except its length.
inline void tell_datagram(Cqe& cqe, const ParsedPacket& packet, const RequestEffect& e,
                          const QpConfig& qp, const PortAttributes& port) {
  cqe.src_qp = packet.deth.src_qp;
  cqe.has_grh = has_network_header(packet.framing);
  cqe.slid = e.slid;
  cqe.sl = e.sl;
  cqe.pkey_index = qp.pkey_index;
  if (qp.qpn == kQp1)  // G18.4
    cqe.pkey_index = find_pkey(port.pkeys, packet.bth.pkey).value_or(qp.pkey_index);
}

// Returns the counter of a datagram that was dropped for lack of room; nullptr: it was not dropped,
// or its queue pair fails.
inline u64 DropCounters::*counter_without_place(RequestCause cause) {
  if (cause == RequestCause::NoReceiveWqe) return &DropCounters::no_receive_wqe;
  return cause == RequestCause::ReceiveTooShort ? &DropCounters::receive_too_short : nullptr;
}
}  // namespace hca::proto

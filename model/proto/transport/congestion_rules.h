// SPDX-License-Identifier: Apache-2.0
// The notification point of RoCEv2 (G26.2).
#pragma once
#include "model/proto/transport/qp.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// A packet with a congestion mark draws a CNP, for each queue pair at most one in an interval.
// RoCEv1 has no IP header for the mark.
inline bool draws_cnp(const u8* frame, const ParsedPacket& packet) {
  const bool ip = packet.framing == Framing::RoceV2Ip4 || packet.framing == Framing::RoceV2Ip6;
  return ip && (traffic_class_of(frame, packet) & kEcnMask) == kEcnCongestionExperienced;
}
// The fields of a packet that fails header validation are not reliable (DROP-13), and neither is
// its mark. So a packet for another device and a CNP draw none.
inline bool may_draw_cnp(RequestCause cause) {
  for (const RequestRule& rule : kRequestRules)
    if (rule.cause == cause && rule.stage == RuleStage::Header) return false;
  return true;
}

// A CNP has DestQP of the peer, BECN 1 and PSN 0; 16 bytes of zeros follow.
inline constexpr u8 kCnpOpcode = 0x81;
inline Bth cnp_bth(const QpConfig& qp) {
  Bth bth{};
  bth.pkey = qp.pkey;
  bth.dest_qp = qp.dest_qpn;
  bth.becn = true;
  return bth;
}
}  // namespace hca::proto

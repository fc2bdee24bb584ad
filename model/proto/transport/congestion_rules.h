// SPDX-License-Identifier: Apache-2.0
// The notification point of RoCEv2 (G26.2).
#pragma once
#include "model/proto/transport/qp.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/packet.h"

namespace hca::proto {
// A packet that met congestion draws a CNP, for each queue pair at most one in an interval. RoCEv1
// has no IP header to be marked.
inline bool draws_cnp(const u8* frame, const ParsedPacket& packet) {
  const bool ip = packet.framing == Framing::RoceV2Ip4 || packet.framing == Framing::RoceV2Ip6;
  return ip && (traffic_class_of(frame, packet) & kEcnMask) == kEcnCongestionExperienced;
}
// Nothing may be relied on in what fails header validation (DROP-13), its mark neither: neither a
// packet of somebody else nor a CNP draws one.
inline bool may_draw_cnp(RequestCause cause) {
  for (const RequestRule& rule : kRequestRules)
    if (rule.cause == cause && rule.stage == RuleStage::Header) return false;
  return true;
}

// DestQP is the peer, BECN is set, PSN 0; 16 bytes of zeros follow.
inline constexpr u8 kCnpOpcode = 0x81;
inline Bth cnp_bth(const QpConfig& qp) {
  Bth bth{};
  bth.pkey = qp.pkey;
  bth.dest_qp = qp.dest_qpn;
  bth.becn = true;
  return bth;
}
}  // namespace hca::proto

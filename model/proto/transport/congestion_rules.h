// SPDX-License-Identifier: Apache-2.0
// The notification point: CN packets (G26.1), and the CNPs of RoCEv2 (G26.2).
#pragma once
#include <utility>

#include "model/proto/transport/multicast.h"
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

// G26.1: a FECN that no answer follows draws a CN packet, with the fields of a CNP. Unreliable
// services have no answers. Otherwise it is a request that ends its message without asking for an
// ACK; within a message the answer to its end is in time.
inline constexpr u8 kCnOpcode = 0x80;
inline bool draws_cn(const QpConfig& qp, const ParsedPacket& packet, const RequestVerdict& v) {
  if (!packet.bth.fecn || !qp.options.congestion_control || !packet.opcode) return false;
  if (!may_draw_cnp(v.cause) || packet.bth.dest_qp == kMulticastQp) return false;
  if (!qp.reliable) return true;
  const bool ends = ends_message(packet.opcode->position) && !packet.opcode->traits().is_saved();
  return ends && v.action == RequestAction::Execute && !packet.bth.ack_req;
}
// The same for a response that is accepted: none is answered. An Acknowledge draws none, so that
// no packet without data causes another one.
inline bool response_draws_cn(const QpConfig& qp, const ParsedPacket& packet) {
  return packet.bth.fecn && qp.options.congestion_control &&
         packet.opcode->operation != Operation::Acknowledge;
}

// The CN packet: on a connection by its path, for a datagram back to its sender.
struct CnPlan {
  Path path;
  Bth bth;
};
inline CnPlan plan_cn(const QpConfig& qp, const u8* frame, const ParsedPacket& packet) {
  CnPlan plan{qp.path, cnp_bth(qp)};
  plan.bth.mig_req = sends_migrated(qp);
  if (qp.service != Service::Ud) return plan;
  AddressVector back = address_vector(packet.framing, addressing_of(frame, packet));
  std::swap(back.source_mac, back.destination_mac);
  std::swap(back.source_lid, back.destination_lid);
  std::swap(back.source_gid, back.destination_gid);
  back.traffic_class &= u8(~kEcnMask);
  back.hop_limit = AddressVector{}.hop_limit;
  plan.path = make_path(back);
  plan.bth.pkey = packet.bth.pkey;
  plan.bth.dest_qp = packet.deth.src_qp;
  return plan;
}
}  // namespace hca::proto

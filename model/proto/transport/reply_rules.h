// SPDX-License-Identifier: Apache-2.0
// The packets that a responder sends (G4.6, T3): Acknowledge, READ responses, ATOMIC Acknowledge.
#pragma once
#include "model/proto/transport/request_effect.h"

namespace hca::proto {
// G26.1: true if the next answer has BECN 1. `congested`: a request since the last answer had FECN
// 1.
inline bool takes_becn(bool& congested) { return std::exchange(congested, false); }

// The connection's path, SE = 0, A = 0.
inline Bth reply_bth(const QpConfig& qp, u32 psn, bool becn) {
  Bth bth{};
  bth.becn = becn;
  bth.mig_req = sends_migrated(qp);
  bth.ack_req = false;
  bth.pkey = qp.pkey;
  bth.dest_qp = qp.dest_qpn;
  bth.psn = psn;
  return bth;
}

constexpr const OpcodeRow& reply_row(Service service, Operation operation,
                                     Position position = Position::Only) {
  return *opcode_row(service, operation, position);
}

// True if a response of a READ or ATOMIC may begin: not if its queue pair has stopped processing
// requests (T13), except before the request that took it to Error (G7.2).
inline bool may_respond(const QpConfig& qp, const ReceiveState& r) {
  return takes_requests(qp.state) || (qp.state == QpState::Error && r.refused);
}

// The credits that the newest ACK or response of a queue pair advertised.
struct ToldCredits {
  bool any = false;
  u8 syndrome = 0;
  u32 psn = 0, msn = 0;
  u32 consumed = 0;  // receive WQEs taken by the messages up to this MSN

  // G6.6, C9-217: the same PSN and MSN may be sent again with the WQEs posted since then.
  u32 free(u32 posted) const { return posted - consumed; }
  // The last advertisement was zero, and now receive WQEs are free.
  bool must_be_told_again(u32 posted) const {
    return any && syndrome == ack_syndrome(0) && free(posted);
  }
};
// Records an AETH for `psn`; a repeated response carries no newer PSN.
inline void note_told(ToldCredits& told, u32 psn, u32 msn, u8 syndrome, u32 consumed) {
  if (syndrome_kind(syndrome) != SyndromeKind::Ack) return;
  if (!told.any || psn_distance(told.psn, psn) > 0) told.psn = psn;
  told.any = true;
  told.msn = msn;
  told.syndrome = syndrome;
  told.consumed = consumed;
}

// Response packet `index` of a READ; a repeated READ is answered from its own first packet on
// (G3.3).
struct ReadResponsePlan {
  const OpcodeRow* row;
  u32 psn, offset, bytes;
  bool last;
};
inline ReadResponsePlan plan_read_response(const QpConfig& qp, const RequestEffect& e, u32 index) {
  const bool first = index == 0, last = index + 1 == e.packets;
  const Position position = first  ? (last ? Position::Only : Position::First)
                            : last ? Position::Last
                                   : Position::Middle;
  const u32 offset = index * qp.path_mtu;
  return {&reply_row(qp.service, Operation::ReadResponse, position), psn_add(e.ack_psn, index),
          offset, last ? e.byte_len - offset : qp.path_mtu, last};
}
}  // namespace hca::proto

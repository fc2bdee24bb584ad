// SPDX-License-Identifier: Apache-2.0
// Requests ahead of the one that is expected, by the policy of loss recovery.
#pragma once
#include "model/proto/transport/recovery.h"
#include "model/proto/transport/request_effect.h"

namespace hca::proto {
// It is judged again when those before it have come.
inline constexpr RequestVerdict kKeptAhead{RequestAction::Nak, RequestCause::PsnAhead,
                                           kSelectiveNak, kRecoveryNames[1]};
inline bool is_kept(const RequestVerdict& v) { return v.nak == kSelectiveNak; }

// True: a request with this verdict is kept instead.
inline bool keeps_ahead(const ReceiveState& s, const ParsedPacket& packet, const QpConfig& qp,
                        const RequestVerdict& v) {
  if (v.cause != RequestCause::PsnAhead && v.cause != RequestCause::NakPending) return false;
  return by_recovery(recovery_of(qp),
                     [&](auto policy) { return policy.keeps(qp, s.epsn, packet.bth.psn); });
}
// After apply(): the selective NAK acknowledges all before the request that is expected, and names
// the one that is kept.
inline void tell_kept(RequestEffect& e, const ReceiveState& s, const ParsedPacket& packet) {
  e.ack_psn = s.epsn;
  e.msn = packet.bth.psn;
}
}  // namespace hca::proto

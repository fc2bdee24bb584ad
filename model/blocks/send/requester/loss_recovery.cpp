// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/loss_recovery.h"

namespace hca::blocks {
using namespace proto;

// Returns the index of the WQE that holds `psn`.
u32 LossRecovery::index_of(u32 qpn, Psn psn) const {
  const SendState& s = state_of(qpn);
  return wqe_of_psn(s.completed, s.started, psn, [&](u32 i) { return message_of(qpn, i); });
}

PsnRange LossRecovery::packet_of(u32 qpn, Psn psn) const {
  const u32 index = index_of(qpn, psn);
  return index == state_of(qpn).started ? PsnRange{psn, 1} : packet_at(message_of(qpn, index), psn);
}

void LossRecovery::go_back(u32 qpn, const AckVerdict& v, NoteKind kind) {
  const bool alone = kind == NoteKind::Pause || v.implied;
  by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    auto& known = record<decltype(policy)>(qpn);
    const PsnRange packet = packet_of(qpn, v.psn);
    if (alone)
      policy.on_refused(state_of(qpn), known, packet);
    else
      policy.on_nak(state_of(qpn), known, packet);
  });
  rewind(qpn, kind);
}

// The fetched WQEs are stale; the scheduler fetches again.
void LossRecovery::rewind(u32 qpn, NoteKind kind) {
  SendState& s = state_of(qpn);
  ++s.epoch;
  timers_.clear(qpn);
  turns_.drop(queues_[qpn]);
  outbox_.note({kind, qpn, index_of(qpn, s.send_psn), s.epoch});
}

void LossRecovery::acknowledged(u32 qpn, Psn before) {
  by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    policy.on_acknowledged(state_of(qpn), record<decltype(policy)>(qpn), before);
  });
}

[[gnu::cold]] void LossRecovery::take_kept(u32 qpn, Psn psn) {
  if (queues_[qpn].in_error || queues_[qpn].failing) return;
  ++counters_.selective_naks;
  const bool goes_back = by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    return policy.on_selective_nak(state_of(qpn), record<decltype(policy)>(qpn),
                                   packet_of(qpn, psn));
  });
  if (goes_back) rewind(qpn, NoteKind::Rewind);
}

[[gnu::cold]] void LossRecovery::migrated(u32 qpn) {
  by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    policy.on_migrated(state_of(qpn), record<decltype(policy)>(qpn));
  });
}

[[gnu::cold]] bool LossRecovery::may_cut(u32 qpn, SendQueue& q) {
  const QpConfig& qp = contexts_.qps[qpn];
  const SendState& s = state_of(qpn);
  const SentMessage& m = *q.message;
  const s32 passed = psn_distance(psn_add(m.first_psn, q.packet), s.send_psn);
  if (passed > 0 && q.packet + u32(passed) >= m.packets) {
    turns_.finish_wqe(qpn, q);
    return false;
  }
  if (passed > 0) {
    q.cursor.skip(u32(passed) * qp.path_mtu);
    q.packet += u32(passed);
  }
  return by_recovery(recovery_of(qp), [&](auto policy) {  // its ACK activates the queue again
    return policy.may_send(s, qp, psn_add(m.first_psn, q.packet));
  });
}

[[gnu::cold]] bool LossRecovery::asks(u32 qpn, Packet& p) const {
  const bool asks = by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    return policy.asks(contexts_.qps[qpn], p.psn);
  });
  const bool repeats = contexts_.qps[qpn].reliable && p.psn != state_of(qpn).sent_psn;
  if (!asks && !repeats) return false;
  p.frame()[p.shape.transport_offset + kAckRequestByte] |= kAckRequestBit;
  return true;
}

[[gnu::cold]] void LossRecovery::sent(u32 qpn, const PsnRange& packet, bool is_new) {
  by_recovery(recovery_of(contexts_.qps[qpn]), [&](auto policy) {
    policy.on_sent(state_of(qpn), record<decltype(policy)>(qpn), packet, is_new);
  });
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
// Repetitions after a loss, and requests kept ahead of a loss, by the policy of the device
// (proto/transport/recovery.h).
#include "model/functional/functional_hca.h"

namespace hca::functional {
using namespace proto;

// Returns the packet that holds `psn`.
PsnRange FunctionalHca::packet_of(u32 qpn, Psn psn) const {
  const SendState& s = contexts_.send_of(qpn);
  const auto message = [&](u32 i) -> const SentMessage& {
    return sent_.message(contexts_.connection_of(qpn), i);
  };
  const u32 index = wqe_of_psn(s.completed, s.started, psn, message);
  return index == s.started ? PsnRange{psn, 1} : packet_at(message(index), psn);
}

// Class A: to the oldest that is not acknowledged.
void FunctionalHca::go_back(u32 qpn, const AckVerdict& verdict) {
  SendState& s = contexts_.send_of(qpn);
  by_recovery(recovery_of(sender(qpn)), [&](auto policy) {
    auto& known = losses<decltype(policy)>(qpn);
    const PsnRange packet = packet_of(qpn, s.unacked_psn);
    if (verdict.action == AckAction::Wait || verdict.implied)
      policy.on_refused(s, known, packet);
    else
      policy.on_nak(s, known, packet);
  });
}

// The responder keeps the packet with this PSN and lacks one before it.
void FunctionalHca::note_kept(u32 qpn, Psn psn) {
  by_recovery(recovery_of(sender(qpn)), [&](auto policy) {
    policy.on_selective_nak(contexts_.send_of(qpn), losses<decltype(policy)>(qpn),
                            packet_of(qpn, psn));
  });
  pump(qpn);
}

void FunctionalHca::keep(u32 qpn, Psn psn, std::span<const u8> frame) {
  ReceiveState& state = contexts_.receive_of(qpn);
  if (!std::exchange(state.keeps, true)) progress(qpn).kept.clear();
  progress(qpn).kept.try_emplace(psn, frame.begin(), frame.end());
}

// The request that is expected now; empty: it is not kept.
std::vector<u8> FunctionalHca::take_kept(u32 qpn) {
  const ReceiveState& state = contexts_.receive_of(qpn);
  if (!state.keeps) return {};
  auto kept = progress(qpn).kept.extract(state.epsn);
  return kept ? std::move(kept.mapped()) : std::vector<u8>{};
}
}  // namespace hca::functional

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/ack_timers.h"

#include "model/proto/transport/timeout.h"

namespace hca::blocks {
using namespace proto;

void AckTimers::restart(u32 qpn) {
  const SendState& s = state_of(qpn);
  const bool has_timer = ack_timeout_ns(contexts_.qps[qpn].timeout);
  if (!has_timer || !s.anything_unacked()) return timers_.clear(qpn);
  set(qpn, now() + timeout_of(qpn));
}

void AckTimers::wait_rnr(u32 qpn, u8 rnr_code) {
  set(qpn, now() + engine::cycles_from_picoseconds(rnr_delay_ns(rnr_code) * 1000, clock_hz_));
}

void AckTimers::set(u32 qpn, Cycle at) {
  if (const Cycle ask = timers_.set(qpn, at); ask != kNever) wake_at(ask);
}

Cycle AckTimers::timeout_of(u32 qpn) const {
  return engine::cycles_from_picoseconds(ack_timeout_ns(contexts_.qps[qpn].timeout) * 1000,
                                         clock_hz_);
}
}  // namespace hca::blocks

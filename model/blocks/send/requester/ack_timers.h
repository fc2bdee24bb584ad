// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/requester_part.h"
#include "model/blocks/send/timers.h"

namespace hca::blocks {
// One timer per queue pair: the transport timer (G11.1) or the timer of an RNR NAK.
class AckTimers : RequesterPart {
 public:
  AckTimers(const RequesterPart& shared, u64 clock_hz)
      : RequesterPart(shared), clock_hz_(clock_hz) {}

  // Restarts the transport timer if anything is unacknowledged.
  void restart(u32 qpn);
  void wait_rnr(u32 qpn, u8 rnr_code);
  void clear(u32 qpn) { timers_.clear(qpn); }
  bool runs(u32 qpn) const { return timers_.runs(qpn); }
  Cycle timeout_of(u32 qpn) const;

  bool may_be_due(Cycle at) const { return timers_.may_be_due(at); }
  // Returns the queue pair whose timer expired, once; Timers::kNone if there is none. `again`: when
  // to call it next, if not kNever.
  u32 due(Cycle& again) { return timers_.due(now(), again); }
  Cycle next() const { return timers_.next(); }
  Cycle deadline(u32 qpn) const { return timers_.deadline(qpn); }

 private:
  void set(u32 qpn, Cycle at);

  const u64 clock_hz_;
  Timers timers_;
};
}  // namespace hca::blocks

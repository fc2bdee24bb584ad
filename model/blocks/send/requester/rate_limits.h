// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/requester_part.h"
#include "model/blocks/send/timers.h"

namespace hca::blocks {
// Queue pairs whose requests have a rate limit. Of such a queue pair, a packet that takes b bytes
// of the link is followed by the next one b bytes of that rate later, or after it: what comes late
// is not caught up.
class RateLimits : RequesterPart {
 public:
  RateLimits(const RequesterPart& shared, u64 clock_hz)
      : RequesterPart(shared), clock_hz_(clock_hz) {}

  // A packet of the queue pair is cut now.
  void pace(u32 qpn, SendQueue& q, const Packet& packet);
  // True: due() names it in its cycle.
  bool waits(u32 qpn, SendQueue& q);
  // A queue pair has waited.
  bool has_any() const { return has_paced_; }
  // One whose wait is over; Timers::kNone if none is. `again`: when to ask next, if not kNever.
  u32 due(Cycle& again) { return paced_.due(now(), again); }
  void clear(u32 qpn) { paced_.clear(qpn); }

 private:
  const u64 clock_hz_;
  bool has_paced_ = false;
  Timers paced_;
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/requester_part.h"
#include "model/blocks/send/timers.h"

namespace hca::blocks {
// Queue pairs whose requests have a rate limit. After a packet that takes b bytes of the link, the
// next one is cut no earlier than b bytes at that rate later; lost time is not caught up. After a
// READ the next packet is cut no earlier than `read_interval` later.
class RateLimits : RequesterPart {
 public:
  RateLimits(const RequesterPart& shared, u64 clock_hz)
      : RequesterPart(shared), clock_hz_(clock_hz) {}

  // The queue pair cuts a packet now.
  void pace(u32 qpn, SendQueue& q, const Packet& packet);
  // The queue pair cuts a READ now.
  void pace_read(SendQueue& q, Cycle interval);
  // True: the queue pair waits; due() returns it in its cycle.
  bool waits(u32 qpn, SendQueue& q);
  // True once a queue pair has waited.
  bool has_any() const { return has_paced_; }
  // Returns a queue pair whose wait is over; Timers::kNone if there is none. `again`: when to call
  // it next, if not kNever.
  u32 due(Cycle& again) { return paced_.due(now(), again); }
  void clear(u32 qpn) { paced_.clear(qpn); }

 private:
  const u64 clock_hz_;
  bool has_paced_ = false;
  Timers paced_;
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/rate_limits.h"

#include <algorithm>

namespace hca::blocks {
[[gnu::cold]] void RateLimits::pace(u32 qpn, SendQueue& q, const Packet& packet) {
  const u32 limit = contexts_.qps[qpn].rate_limit;
  if (!q.pace || q.pace->limit != limit)
    q.pace = std::make_unique<Pace>(Pace{.limit = limit, .pacer = {u64{limit} * 1000, clock_hz_}});
  const proto::Framing framing = packet.shape.framing;
  const u32 frame = packet.shape.icrc_offset + crc_bytes(framing);
  q.pace->from = q.pace->pacer.next(now(), proto::bytes_on_link(frame, framing));
  q.pace->after_read = false;
}

[[gnu::cold]] void RateLimits::pace_read(SendQueue& q, Cycle interval) {
  if (!q.pace) q.pace = std::make_unique<Pace>(Pace{.limit = 0, .pacer = {1, clock_hz_}});
  if (q.pace->from >= now() + interval) return;
  q.pace->from = now() + interval;
  q.pace->after_read = true;
}

[[gnu::cold]] bool RateLimits::waits(u32 qpn, SendQueue& q) {
  Pace& pace = *q.pace;
  if (pace.from <= now()) return false;
  if (pace.counted < pace.from) {
    (pace.after_read ? counters_.waits_read_interval : counters_.waits_rate) +=
        pace.from - std::max(now(), pace.counted);
    pace.counted = pace.from;
  }
  has_paced_ = true;
  pending_ |= kOwn;
  if (const Cycle at = paced_.set(qpn, q.pace->from); at != kNever) wake_at(at);
  return true;
}
}  // namespace hca::blocks

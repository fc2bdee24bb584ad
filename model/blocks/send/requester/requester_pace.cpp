// SPDX-License-Identifier: Apache-2.0
// Queue pairs whose requests have a rate limit; how long queue pairs wait for what.
#include <algorithm>
#include <utility>

#include "model/blocks/port/icrc_unit.h"
#include "model/blocks/send/requester/requester.h"

namespace hca::blocks {
// A packet of the lane is cut now.
[[gnu::cold]] void Requester::pace(u32 qpn, Lane& lane, const Packet& packet) {
  const u32 limit = contexts_.qps[qpn].rate_limit;
  if (!lane.pace || lane.pace->limit != limit)
    lane.pace = std::make_unique<Pace>(Pace{limit, {u64{limit} * 1000, clock_hz_}});
  const proto::Framing framing = packet.shape.framing;
  const u32 frame = packet.shape.icrc_offset + crc_bytes(framing);
  lane.pace->from = lane.pace->pacer.next(now(), proto::bytes_on_link(frame, framing));
}

// True: resume_paced() activates the lane in its cycle.
[[gnu::cold]] bool Requester::waits_for_pace(u32 qpn, Lane& lane) {
  Pace& pace = *lane.pace;
  if (pace.from <= now()) return false;
  if (pace.counted < pace.from)
    counters.waits_rate += pace.from - std::max(now(), pace.counted), pace.counted = pace.from;
  has_paced_ = true, pending_ |= kOwn;
  if (const Cycle at = paced_.set(qpn, lane.pace->from); at != kNever) wake_at(at);
  return true;
}

[[gnu::cold]] void Requester::resume_paced() {
  Cycle again = kNever;
  for (u32 qpn = paced_.due(now(), again); qpn != Timers::kNone; qpn = paced_.due(now(), again))
    activate(qpn, lanes_[qpn]);
  if (again != kNever) wake_at(again);
}

// The next message of the lane waits for something else than before, or for nothing any more.
[[gnu::cold]] void Requester::change_wait(Lane& lane, proto::SendWait wait) {
  using C = RequesterCounters;
  constexpr std::array<u64 C::*, 5> kCounters{nullptr, &C::waits_window, &C::waits_reads,
                                              &C::waits_fence, &C::waits_credits};
  if (lane.waits != proto::SendWait::None)
    counters.*kCounters[unsigned(lane.waits)] += now() - lane.waits_since;
  lane.waits = wait, lane.waits_since = now();
}

// Its RNR timer is over, or something else came first.
[[gnu::cold]] void Requester::end_rnr(Lane& lane) {
  counters.waits_rnr += now() - std::exchange(lane.rnr_since, now());
}
}  // namespace hca::blocks

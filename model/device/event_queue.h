// SPDX-License-Identifier: Apache-2.0
// What an event does to its event queue, and an event queue to its interrupt vector.
#pragma once
#include <optional>

#include "model/device/writers.h"

namespace hca::device {
// Writes the EQE of `event` for event queue `eqn` to `eqe` and gives its address; nothing if there
// is no such queue or no room in it: the event is lost.
std::optional<u64> put_event(const Contexts& contexts, const EventRings& eqs, u32 eqn,
                             const proto::Event& event, u8* eqe);
// After an EQE of `eqn`: the vector whose message is due, if the queue was armed.
std::optional<u16> take_interrupt(const EventRings& eqs, const Vectors& vectors, u32 eqn);
// An EQ doorbell: the same, if it arms a queue that holds EQEs not taken.
std::optional<u16> ring_eq(const EventRings& eqs, const Vectors& vectors,
                           const proto::EqDoorbell& bell);
// The runner's time, for moderation: now, and the period of a CQ, in its unit.
struct CqTime {
  u64 now = 0, period = 0;
};
// A CQE of a CQ with an EQ is in memory. True: its completion event is due, the CQ no longer armed.
bool count_cqe(EventRing& cq, bool solicited, const CqTime& time);
// G21.2: an armed "solicited" may become "next", not the reverse. False: there is no such queue.
bool ring_cq(const CompletionRings& cqs, const proto::CqDoorbell& bell);
// Behind such a doorbell, true: the CQ holds CQEs not taken that it is armed for. Their event is
// due now, for software may have looked for them before the doorbell came. With moderation it
// waits until they are `event_count`, or until `event_due`, which the runner has to watch: the
// period begins when the CQ is armed for the next CQE and has one that is not taken. What a CQ is
// armed for as solicited does not wait. Also behind ModifyCq, and when `event_due` comes.
bool take_armed(const CompletionRings& cqs, u32 cqn, const CqTime& time);
// The message of a vector: 4 bytes, low byte first.
inline void encode_message(const proto::VectorAttributes& vector, u8* out) {
  for (unsigned i = 0; i < proto::kMessageBytes; ++i) out[i] = u8(vector.data >> 8 * i);
}
}  // namespace hca::device

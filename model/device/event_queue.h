// SPDX-License-Identifier: Apache-2.0
// The effect of an event on its event queue, and of an event queue on its interrupt vector.
#pragma once
#include <optional>

#include "model/device/writers.h"

namespace hca::device {
// Writes the EQE of `event` for event queue `eqn` to `eqe` and returns its address; nullopt if the
// queue does not exist or has no room: the event is lost.
std::optional<u64> put_event(const Contexts& contexts, const EventRings& eqs, u32 eqn,
                             const proto::Event& event, u8* eqe);
// After an EQE of `eqn`: the vector whose message is due, if the queue was armed.
std::optional<u16> take_interrupt(const EventRings& eqs, const Vectors& vectors, u32 eqn);
// An EQ doorbell: the same, if it arms a queue that holds unread EQEs.
std::optional<u16> ring_eq(const EventRings& eqs, const Vectors& vectors,
                           const proto::EqDoorbell& bell);
// The runner's current time, for moderation, and the period of a CQ in the same unit.
struct CqTime {
  u64 now = 0, period = 0;
};
// A CQE of a CQ with an EQ is in memory. True: its completion event is due; the CQ is no longer
// armed.
bool count_cqe(EventRing& cq, bool solicited, const CqTime& time);
// G21.2: an armed "solicited" may become "next", but not the reverse. False: the queue does not
// exist.
bool ring_cq(const CompletionRings& cqs, const proto::CqDoorbell& bell);
// Call after such a doorbell. True: the CQ holds unread CQEs for which it is armed. Their event is
// due now, because software may have polled before the doorbell arrived. With moderation it waits
// until they are `event_count`, or until `event_due`, which the runner must watch. The period
// begins when the CQ is armed for the next CQE and has an unread one. A CQ armed for solicited CQEs
// does not wait. Also call after ModifyCq, and at `event_due`.
bool take_armed(const CompletionRings& cqs, u32 cqn, const CqTime& time);
// The message of a vector: 4 bytes, low byte first.
inline void encode_message(const proto::VectorAttributes& vector, u8* out) {
  for (unsigned i = 0; i < proto::kMessageBytes; ++i) out[i] = u8(vector.data >> 8 * i);
}
}  // namespace hca::device

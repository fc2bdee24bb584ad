// SPDX-License-Identifier: Apache-2.0
// Shared receive queues (G23): their state.
#pragma once
#include "model/proto/transport/qp.h"

namespace hca::proto {
struct SharedQueue {
  bool allocated = false;
  bool failed = false;  // its WQEs cannot be read: only destruction ends this (SRQ-11)
  u8 port = 1;
  u32 pd = 0, limit = 0, uses = 0;
  u32 posted = 0, taken = 0;
  WorkQueue wqes;
  u64 context = 0;

  u32 available() const { return posted - taken; }
  // The WQE at its head (SRQ-2).
  u32 head() const { return taken; }
};

// Shows the queue to a queue pair's state while a request is judged.
inline void look_at(ReceiveState& s, const SharedQueue& queue) {
  s.rq_posted = queue.posted;
  s.rq_consumed = queue.taken;
  s.shared_failed = queue.failed;
}
// The states of an SRQ in which QUERY, MODIFY and DESTROY are allowed (SRQ-11).
inline bool may_query(const SharedQueue& queue) { return !queue.failed; }
inline bool may_modify(const SharedQueue& queue) { return !queue.failed; }
inline bool may_destroy(const SharedQueue& queue) { return !queue.uses; }
}  // namespace hca::proto

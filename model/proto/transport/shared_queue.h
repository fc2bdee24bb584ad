// SPDX-License-Identifier: Apache-2.0
// Shared receive queues (G23): their state.
#pragma once
#include "model/proto/transport/qp.h"

namespace hca::proto {
struct SharedQueue {
  bool allocated = false;
  bool failed = false;  // its WQEs cannot be read: only destruction ends that (SRQ-11)
  u8 port = 1;
  u32 pd = 0, limit = 0, uses = 0;
  u32 posted = 0, taken = 0;
  WorkQueue wqes;
  u64 context = 0;
  [[no_unique_address]] mutable MutantMemory<u16> completed;

  u32 available() const { return posted - taken; }
  // The WQE at its head (SRQ-2).
  u32 head() const { return taken ^ u32(mutant<"srq_wqes_swapped">()); }
};

// What its queue pair sees while a request is judged.
inline void look_at(ReceiveState& s, const SharedQueue& queue) {
  s.rq_posted = queue.posted, s.rq_consumed = queue.taken, s.shared_failed = queue.failed;
}
// A mistake: CQEs name WQEs in the order in which they were posted, whichever ended (CQ-3).
inline u16 named_shared(const SharedQueue* queue, u32 wqe) {
  return queue && mutant<"srq_cqes_in_order">() ? queue->completed()++ : u16(wqe);
}
// What QUERY, MODIFY and DESTROY may do to it (SRQ-11).
inline bool may_query(const SharedQueue& queue) {
  return !queue.failed || mutant<"srq_error_queried">();
}
inline bool may_modify(const SharedQueue& queue) {
  return !queue.failed || mutant<"srq_error_modified">();
}
inline bool may_destroy(const SharedQueue& queue) {
  if (mutant<"srq_error_stays">() && queue.failed) return false;
  return !queue.uses || mutant<"srq_destroyed_in_use">();
}
// SRQ-10: posting to one that has failed is no error.
inline bool refuses_posts(const SharedQueue& queue) {
  return queue.failed && mutant<"srq_error_refuses_posts">();
}
}  // namespace hca::proto

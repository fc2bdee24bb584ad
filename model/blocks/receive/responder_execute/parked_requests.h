// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// Requests that wait after the first one of their queue pair, which waits for its receive WQE or
// for earlier requests; no other queue pair waits with them.
class ParkedRequests : ResponderPart {
 public:
  explicit ParkedRequests(const ResponderPart& shared) : ResponderPart(shared) {}
  // C9-28: a request that writes memory comes after the ATOMICs before it, as these execute out of
  // the order of requests. The invalidation of a key is such a case too: each access after it is
  // judged at that time, and a refusal counts only if the queue pair has not failed by then.
  static bool waits_for_earlier(const Packet& p, const ResponderQueue& q);
  bool is_full() const { return parked_ >= config_.parking; }
  void park(Packet* p, ResponderQueue& q);
  // Takes the first request of a queue pair to carry it out.
  Packet* take_first(ResponderQueue& q);
  void end_wqe_wait(u32 qpn, ResponderQueue& q);

  // Queue pairs whose first request may be carried out, in their order.
  bool any_due() const { return !due_.empty(); }
  u32 first_due() const { return due_.front(); }
  void note_due(u32 qpn, ResponderQueue& q);
  // The first of these queue pairs has to wait again.
  void put_off_first(ResponderQueue& q);

 private:
  u32 parked_ = 0;
  Ring<u32> due_;
};
}  // namespace hca::blocks

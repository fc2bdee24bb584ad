// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// Requests that wait behind the first one of their queue pair, which waits for its receive WQE or
// for what came before; no other queue pair waits with them.
class ParkedRequests : ResponderPart {
 public:
  explicit ParkedRequests(const ResponderPart& shared) : ResponderPart(shared) {}
  // C9-28: what writes memory comes after the ATOMICs before it; they are done out of the order of
  // requests. So is the taking away of a key: each access after it is judged then, and each refusal
  // is one only if the queue pair has not failed by then.
  static bool waits_for_earlier(const Packet& p, const ResponderQueue& q);
  bool is_full() const { return parked_ >= config_.parking; }
  void park(Packet* p, ResponderQueue& q);
  // Its first request: it is carried out now.
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

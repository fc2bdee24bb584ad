// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// Advertises credits that the peer has not received yet, when no answer is on its way.
class CreditUpdates : ResponderPart {
 public:
  explicit CreditUpdates(const ResponderPart& shared) : ResponderPart(shared) {}
  // The queue pair has no outcome left, or WQEs were posted to it.
  void offer(u32 qpn, ResponderQueue& q);
  bool any_to_tell(unsigned port) const { return !tells_[port].empty(); }
  void tell(unsigned port);

 private:
  PerPort<Ring<u32>> tells_;  // queue pairs whose peer may not have received their credits
};
}  // namespace hca::blocks

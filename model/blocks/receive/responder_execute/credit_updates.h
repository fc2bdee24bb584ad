// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// Credits that the peer does not know of: they are told when no answer is on its way.
class CreditUpdates : ResponderPart {
 public:
  explicit CreditUpdates(const ResponderPart& shared) : ResponderPart(shared) {}
  // No outcome of the queue pair is left, or WQEs were posted to it.
  void offer(u32 qpn, ResponderQueue& q);
  bool any_to_tell(unsigned port) const { return !tells_[port].empty(); }
  void tell(unsigned port);

 private:
  PerPort<Ring<u32>> tells_;  // queue pairs whose peer may not know of their credits
};
}  // namespace hca::blocks

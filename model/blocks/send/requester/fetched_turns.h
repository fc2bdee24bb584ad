// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/outbox.h"
#include "model/blocks/send/requester/send_order.h"
#include "model/engine/budget.h"

namespace hca::blocks {
// The fetched WQEs of the queue pairs, in runs as the scheduler gave them.
class FetchedTurns : RequesterPart {
 public:
  FetchedTurns(const RequesterPart& shared, RequesterOutbox& outbox, SendOrder& order)
      : RequesterPart(shared), outbox_(outbox), order_(order) {}

  engine::Budget* buffers = nullptr;  // the scheduler's

  void add(Turn* turn);
  // All packets of the WQE at the front are cut.
  void finish_wqe(u32 qpn, SendQueue& q);
  // A turn's buffer goes back, and the scheduler hears that its queue pair may have another one.
  void release(Turn* turn);
  // What is fetched is stale.
  void drop(SendQueue& q);

 private:
  RequesterOutbox& outbox_;
  SendOrder& order_;
};
}  // namespace hca::blocks

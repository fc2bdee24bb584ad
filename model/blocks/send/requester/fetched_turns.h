// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/outbox.h"
#include "model/blocks/send/requester/send_order.h"
#include "model/engine/budget.h"

namespace hca::blocks {
// The fetched WQEs of the queue pairs, in runs as the scheduler issued them.
class FetchedTurns : RequesterPart {
 public:
  FetchedTurns(const RequesterPart& shared, RequesterOutbox& outbox, SendOrder& order)
      : RequesterPart(shared), outbox_(outbox), order_(order) {}

  engine::Budget* buffers = nullptr;  // owned by the scheduler

  void add(Turn* turn);
  // All packets of the first WQE are cut.
  void finish_wqe(u32 qpn, SendQueue& q);
  // Returns a turn's buffer and notes to the scheduler that its queue pair may get another turn.
  void release(Turn* turn);
  // The fetched WQEs are stale.
  void drop(SendQueue& q);

 private:
  RequesterOutbox& outbox_;
  SendOrder& order_;
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/send_order.h"

namespace hca::blocks {
[[gnu::cold]] void SendOrder::list_by_class(u32 qpn, SendQueue& q) {
  if (q.pace && rates_.waits(qpn, q)) return;
  q.active = true;
  of(qpn).push(qpn, contexts_.qps[qpn].service_level);
}

void SendOrder::activate(u32 qpn, SendQueue& q) { list(qpn, q); }

[[gnu::cold]] void SendOrder::resume_paced() {
  Cycle again = kNever;
  for (u32 qpn = rates_.due(again); qpn != Timers::kNone; qpn = rates_.due(again))
    activate(qpn, queues_[qpn]);
  if (again != kNever) wake_at(again);
}
}  // namespace hca::blocks

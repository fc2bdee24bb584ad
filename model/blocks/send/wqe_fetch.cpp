// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/wqe_fetch.h"

#include <algorithm>
#include <cstring>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
void WqeFetch::tick() {
  if (!turns_in.can_pop() || !outputs.dma_out->can_push()) return;
  Turn* t = turns_in.pop(config_.interval);
  const proto::QpConfig& qp = contexts_.qps[t->qpn];
  const proto::WorkQueue& sq = qp.sq;
  u32 bytes = t->flush || t->cached ? 0 : t->count * sq.stride();
  if (t->pushed) {
    copy_pushed(*t, sq.stride());
    bytes = 0;
  }
  counters.fetches += bytes != 0;
  ReadOrder& order = orders_[t->qpn];
  if (!bytes && order.lets_pass(now())) return pass(t);
  t->order = &order;
  order.begin();
  outputs.dma_out->start(1, config_.latency - 1)
      .set_read(sq.slot(t->first), t->wqes.data(), bytes, t);
}

// Visible when an unobstructed empty read would have delivered it.
void WqeFetch::pass(Turn* t) {
  t->unreadable = false;
  not_read_out->push(t, 1, config_.latency + 1);
  not_read_probe.event(now() + config_.latency + 2, Step::Passed, t->qpn, t->first, t->count);
}

// A push may be longer than its slot.
void WqeFetch::copy_pushed(Turn& t, u32 stride) {
  for (u8* to = t.wqes.data(); t.pushed; to += stride, ++counters.pushed) {
    PushedWqe* const pushed = t.pushed;
    t.pushed = pushed->next;
    std::memcpy(to, pushed->wqe.data(), std::min(pushed->bytes, stride));
    Pool<PushedWqe>::give_back(pushed);
  }
}

void WqeFetch::fetched(const DmaRequest& request, Cycle last) {
  Turn* t = static_cast<Turn*>(request.context);
  t->unreadable = request.failed;
  const Cycle at = std::max(last, turns_out_free_);
  turns_out_free_ = at;
  const Cycle now = dma.now();
  const Cycle seen = std::max(at, now + 1);
  t->order->end(seen);
  turns_out->push(t, 1, seen - now - 1);
  probe.event(seen, Step::Passed, t->qpn, t->first, t->count);
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/wqe_fetch.h"

#include <algorithm>
#include <cstring>

#include "model/proto/work_rules.h"

namespace hca::blocks {
void WqeFetch::tick() {
  if (!turns_in.can_pop() || !ports.dma_out->can_push()) return;
  Turn* t = turns_in.pop(config_.interval);
  const proto::QpConfig& qp = contexts_.qps[t->qpn];
  const proto::WorkQueue& sq = qp.sq;
  // Flushed, cached and pushed turns read nothing; an empty read keeps them in the order of their
  // queue.
  u32 bytes = t->flush || t->cached ? 0 : t->count * sq.stride();
  if (t->pushed && qp.service == proto::Service::Ud) [[unlikely]]
    drop_cut_push(*t);
  if (t->pushed) {
    ++counters.pushed;
    std::memcpy(t->wqes.data(), t->pushed->wqe.data(), t->pushed->bytes);
    Pool<PushedWqe>::give_back(t->pushed);
    t->pushed = nullptr, bytes = 0;
  }
  counters.fetches += bytes != 0;
  ports.dma_out->start(1, config_.latency - 1)
      .set_read(sq.slot(t->first), t->wqes.data(), bytes, t);
}

// The doorbell does not know of address handles: a push without one to its end is fetched.
void WqeFetch::drop_cut_push(Turn& t) {
  if (proto::holds_whole_wqe({t.pushed->wqe.data(), t.pushed->bytes}, proto::Service::Ud)) return;
  Pool<PushedWqe>::give_back(t.pushed);
  t.pushed = nullptr;
}

void WqeFetch::fetched(const DmaRequest& request, Cycle last) {
  Turn* t = static_cast<Turn*>(request.context);
  t->unreadable = request.failed;
  const Cycle at = std::max(last, turns_out_free_);
  turns_out_free_ = at;
  const Cycle now = dma.now();
  turns_out->push(t, 1, at > now + 1 ? at - now - 1 : 0);
  probe.event(std::max(at, now + 1), Step::Passed, t->qpn, t->first, t->count);
}
}  // namespace hca::blocks

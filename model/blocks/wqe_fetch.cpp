// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/wqe_fetch.h"

#include <algorithm>
#include <cstring>

namespace hca::blocks {
void WqeFetch::tick() {
  if (!turns_in.can_pop() || !ports.dma_out->can_push()) return;
  Turn* t = turns_in.pop(config_.interval);
  const proto::WorkQueue& sq = contexts_.qps[t->qpn].sq;
  // Flushed and pushed turns read nothing; an empty read keeps them in the order of their queue.
  u32 bytes = t->flush ? 0 : t->count * sq.stride();
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

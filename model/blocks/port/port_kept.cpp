// SPDX-License-Identifier: Apache-2.0
// Requests that are kept ahead of a loss, by selective repeat (proto/transport/kept_requests.h).
#include <algorithm>

#include "model/blocks/port/port.h"

namespace hca::blocks {
// The packet's NAK goes to responder_execute in its place, as an item without a frame.
[[gnu::cold]] void PortReceive::keep(Packet* p, Cycle at) {
  Packet* nak = pool_.take();
  nak->qpn = p->qpn;
  nak->psn = p->psn;
  nak->first = p->first;
  nak->last = p->last;
  nak->parsed = p->parsed;
  nak->verdict = p->verdict;
  nak->effect = p->effect;
  nak->frame_bytes = 0;
  responder_.keep(p);
  ++counters.rx_kept;
  outputs.requests_out->push(nak, 1, at - now() - 1);
}

// The next kept packet may be expected now.
[[gnu::cold]] void PortReceive::offer_kept(u32 qpn) {
  Packet* const p = responder_.take_kept(qpn);
  if (!p) return;
  kept_.push(p);
  pending_ |= kKept;
  wake_at(now() + 1);
}
}  // namespace hca::blocks

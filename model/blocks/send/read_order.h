// SPDX-License-Identifier: Apache-2.0
// Items that need no read of host memory pass the reads of other queue pairs; within a queue pair
// the order stays. Such a block has two links to the next block: one for items that were read, in
// the order of the reads, and one for the others. The next block takes the item that it sees first.
#pragma once
#include "model/engine/cycle.h"
#include "model/proto/types.h"

namespace hca::blocks {
using engine::Cycle;

// State of a queue pair.
struct ReadOrder {
  u32 under_way = 0;  // items with reads in flight
  Cycle seen = 0;     // from when the next block sees the last item that was read

  void begin() { ++under_way; }
  void end(Cycle seen_from) {
    --under_way;
    seen = seen_from;
  }
  // True: an item that begins now passes no earlier item of its queue pair; otherwise it goes with
  // the reads. The result does not depend on whether dma has ticked in this cycle, because reads
  // that dma ends now are seen later.
  bool lets_pass(Cycle now) const { return !under_way && seen <= now; }
};

// True: an item can be popped; false for a link that is not connected.
template <class L>
bool shows(const L& link) {
  return !link.empty() && link.can_pop();
}
// True: of the first items of two links, the one of `not_read` is the next, because it was seen
// first. Within the same queue pair and cycle it began before the one that was read.
template <class L>
bool is_next(const L& not_read, const L& read) {
  return shows(not_read) && (!shows(read) || not_read.front_from() <= read.front_from());
}
// The link with the next item, if there is an item.
template <class L>
L& next_of(L& not_read, L& read) {
  return is_next(not_read, read) ? not_read : read;
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
// What needs no read of host memory passes the reads of other queue pairs; within a queue pair the
// order stays. Such a block has two links to the one behind it: one for what was read, in the order
// of the reads, and one for what was not, and the block behind takes what it sees first.
#pragma once
#include "model/engine/cycle.h"
#include "model/proto/types.h"

namespace hca::blocks {
using engine::Cycle;

// Of a queue pair.
struct ReadOrder {
  u32 under_way = 0;  // items whose reads are not done
  Cycle seen = 0;     // from when the block behind sees the last one that was read

  void begin() { ++under_way; }
  void end(Cycle seen_from) {
    --under_way;
    seen = seen_from;
  }
  // An item that begins now passes none of its own queue pair; else it goes with the reads. The
  // same whether dma has been ticked in this cycle or not, for what dma ends now is seen later.
  bool lets_pass(Cycle now) const { return !under_way && seen <= now; }
};

// An item can be popped; not of a link to which nothing leads.
template <class L>
bool shows(const L& link) {
  return !link.empty() && link.can_pop();
}
// Of the first items of two links that of `not_read` is the next: it was seen first. Of the same
// queue pair and cycle it began before the one that was read.
template <class L>
bool is_next(const L& not_read, const L& read) {
  return shows(not_read) && (!shows(read) || not_read.front_from() <= read.front_from());
}
// The link whose item is the next, if there is one at all.
template <class L>
L& next_of(L& not_read, L& read) {
  return is_next(not_read, read) ? not_read : read;
}
}  // namespace hca::blocks

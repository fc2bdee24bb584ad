// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/blocks/memory/protection.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// A payload of this queue pair is ordered.
struct Ordered {
  u32 qpn = 0, life = 0;
};
using OrderedLink = engine::Link<Ordered, 64>;

// Writes the payload of one request to memory, a piece a cycle: to one address, to the scatter list
// of a receive WQE, or to the pages of a region.
class PayloadWrites : ResponderPart {
 public:
  PayloadWrites(const ResponderPart& shared, Protection& protection, Accesses& accesses,
                OrderedLink& ordered_out)
      : ResponderPart(shared),
        protection_(protection),
        accesses_(accesses),
        ordered_out_(ordered_out) {}

  // The packet whose payload is being written; nullptr: there is none.
  Packet* packet() const { return placing_; }
  // Checks that the next `bytes` fit the receive WQE's scatter list, and that its keys allow them
  // (T10-16, T10-1).
  proto::WcStatus judge_scatter(u32 qpn, const ResponderQueue& q, u32 bytes);
  // Requests the first piece at once, in `entered` at the earliest. True: it was the only piece.
  bool begin(Packet* p, u64 address, Cycle entered);
  bool begin_scattered(Packet* p, Scatter& scatter, Cycle entered);
  bool begin_paged(Packet* p, const proto::Region& region, Cycle entered);
  // Requests one write; true: the packet needs no more.
  bool next_piece();
  // Also called on a reset.
  void end();
  DmaCallbacks client();

 private:
  bool begin_pieces(Packet* p, Cycle entered);

  Packet* placing_ = nullptr;
  u64 address_ = 0;
  u32 left_ = 0, done_ = 0;
  Cycle entered_ = 0, last_ask_ = 0;
  bool plain_ = true;             // to address_: no scatter list, no page list
  bool holds_ = false;            // since era_: not all pieces are requested
  u32 run_ = 0;                   // the next element of runs_
  std::vector<proto::Run> runs_;  // places of the payload when the packet was judged
  Accesses::Era era_ = 0;
  Protection& protection_;
  Accesses& accesses_;
  OrderedLink& ordered_out_;
};
}  // namespace hca::blocks

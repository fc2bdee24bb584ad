// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// The WQEs of receive queues: they are read in batches, before they are used.
class ReceiveWqes : ResponderPart {
 public:
  // `batches_in`: read by the block, which hands them to accept().
  ReceiveWqes(const ResponderPart& shared, const ReceiveBatchLink& batches_in,
              ReceiveBatchLink*& batches_out)
      : ResponderPart(shared), batches_in_(batches_in), batches_out_(batches_out) {}
  // The WQE, if it is here; if not, it is asked for. Half a batch before its end the following one
  // is asked for as well.
  const u8* wqe(u32 qpn, ResponderQueue& q, u32 index);
  void ask(u32 qpn);
  bool any_to_fetch() const { return !fetches_.empty(); }
  void fetch();
  // False: it is of a queue pair that was reset.
  bool accept(ReceiveBatch* batch);
  static void drop(ResponderQueue& q);
  DmaCallbacks client();

 private:
  static u32 next_batch(const ResponderQueue& q);

  const ReceiveBatchLink& batches_in_;
  ReceiveBatchLink*& batches_out_;
  Ring<u32> fetches_;
  Pool<ReceiveBatch> batches_;
  u32 fetching_ = 0;  // batches that have room in batches_in and are not here yet
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/shared_wqes.h"

namespace hca::blocks {
// Reads the WQEs of receive queues in batches, before they are used; those of SRQs by SharedWqes.
class ReceiveWqes : ResponderPart {
 public:
  // `batches_in`: read by the block, which passes the batches to accept().
  ReceiveWqes(const ResponderPart& shared, const ReceiveBatchLink& batches_in,
              ReceiveBatchLink*& batches_out)
      : ResponderPart(shared),
        batches_in_(batches_in),
        batches_out_(batches_out),
        shared_(shared, batches_) {}
  // Returns the WQE if it is here; otherwise requests it. Half a batch before the end of a batch
  // the following batch is requested as well.
  const u8* wqe(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index);
  // Requests a WQE that is not here.
  void want(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index);
  void ask(u32 qpn);
  // WQEs of an SRQ were posted.
  void post_shared(u32 srqn, u32 posted) { shared_.post(srqn, posted); }
  // True: the queue pair has the WQE, perhaps since now.
  bool has(ResponderQueue& q, device::ReceiveQueue source, u32 index);
  bool any_to_fetch() const { return !fetches_.empty() || shared_.any_to_fetch(); }
  void fetch();
  // False: the batch belongs to a queue pair that was reset. A batch of an earlier source of WQEs
  // is dropped.
  bool accept(ReceiveBatch* batch);
  // The queue pairs that waited for WQEs of an SRQ.
  const std::vector<SharedWaiter>& accept_shared(ReceiveBatch* batch);
  static void drop(ResponderQueue& q);
  DmaCallbacks client();

 private:
  void fetch_shared();
  void read(ReceiveBatch* batch, const proto::WorkQueue& ring);
  // Reads the WQE, unless it is being read ahead.
  void ask_for(u32 qpn, ResponderQueue& q, device::ReceiveQueue source, u32 index);
  static u32 next_batch(const ResponderQueue& q);
  static void turn_to(ResponderQueue& q, device::ReceiveQueue source, u32 index);
  const proto::WorkQueue& ring_of(u32 qpn, device::ReceiveQueue source) const {
    return contexts_.ring_of(contexts_.qps[qpn], source);
  }

  const ReceiveBatchLink& batches_in_;
  ReceiveBatchLink*& batches_out_;
  Ring<u32> fetches_;
  Pool<ReceiveBatch> batches_;
  SharedWqes shared_;
  u32 fetching_ = 0;  // batches that have room in batches_in and are not here yet
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// A queue pair whose WQE is being read ahead.
struct SharedWaiter {
  u32 qpn = 0, life = 0, index = 0;
};

// WQEs of SRQs that are read before messages take them, in batches in the order of the ring. Each
// is taken once. A message whose WQE is not among them reads it itself.
class SharedWqes : ResponderPart {
 public:
  SharedWqes(const ResponderPart& shared, Pool<ReceiveBatch>& pool)
      : ResponderPart(shared), pool_(pool) {}
  // WQEs up to `posted` may be read.
  void post(u32 srqn, u32 posted);
  // A copy of a WQE that is here, as a batch of one; nullptr: it is not here.
  ReceiveBatch* take(u32 srqn, u32 index);
  // True: the WQE is being read, and accept() names the queue pair when it is here.
  bool await(u32 srqn, const SharedWaiter& waiter);
  bool any_to_fetch() const { return !due_.empty(); }
  // The next batch to be read, with room for its WQEs; nullptr: none.
  ReceiveBatch* next();
  // The queue pairs that waited for its WQEs.
  const std::vector<SharedWaiter>& accept(ReceiveBatch* batch);

 private:
  struct Batch {
    ReceiveBatch* wqes = nullptr;
    bool is_here = false;  // otherwise it is being read
    u32 taken = 0;         // of its WQEs
  };
  struct Ahead {
    u32 life = 0;  // of the SRQ
    u32 posted = 0;
    u32 end = 0;  // the first WQE that is not in a batch, and was in none
    bool due = false;
    std::vector<Batch> batches;
    std::vector<SharedWaiter> waiting;
  };
  // Its WQEs, without those of an earlier SRQ of this number.
  Ahead& ahead_of(u32 srqn, const proto::SharedQueue& queue);
  void ask(u32 srqn, Ahead& ahead);
  void drop(Ahead& ahead, std::size_t place);
  // Makes room for a batch: some WQEs of the oldest were taken by messages that read none.
  void drop_oldest(Ahead& ahead);

  Pool<ReceiveBatch>& pool_;
  ByQp<Ahead> aheads_;  // by the number of the SRQ
  Ring<u32> due_;       // SRQs with WQEs to read
  std::vector<SharedWaiter> served_;
};
}  // namespace hca::blocks

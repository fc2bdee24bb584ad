// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/delayed.h"
#include "model/blocks/receive/responder_execute/credit_updates.h"
#include "model/blocks/receive/responder_execute/execute_stage.h"
#include "model/blocks/receive/responder_execute/parked_requests.h"

namespace hca::blocks {
// The outcomes of executed requests, in the order of their queue pairs. An outcome is created here,
// and is removed when it has left or is over.
//
// Requests never wait for a place here: the answers to the peer's requests may wait for the answers
// to ours, which come after those requests. What must be kept has a place of its queue pair: a READ
// or ATOMIC by max_dest_rd_atomic, a completion by its receive WQE, a NAK is one of its queue pair.
// With `outcomes` in use ACKs of a queue pair merge, and duplicates of READs and ATOMICs are
// dropped.
class Outcomes : ResponderPart {
 public:
  Outcomes(const ResponderPart& shared, const ExecuteStage& stage, Accesses& accesses,
           ParkedRequests& parked, CreditUpdates& credits, ByQp<Delayed>& reads_finished)
      : ResponderPart(shared),
        stage_(stage),
        accesses_(accesses),
        parked_(parked),
        credits_(credits),
        reads_finished_(reads_finished) {}

  bool is_full() const { return in_flight_ >= config_.outcomes; }
  // Creates the outcome of a request, the last of its queue pair; the caller fills in its effects.
  Outcome& retire(const Packet& p);
  // The same for one that is an ACK and nothing else, after `payloads` of the request (0 or 1).
  void retire_ack(const Packet& p, bool replies, u32 payloads);
  // Marks the region of a READ or ATOMIC as accessed until the outcome is over.
  void begin_access(Outcome& outcome, const proto::Region& region);
  void drop_first(u32 qpn, ResponderQueue& q);
  // Removes a READ or ATOMIC that is over.
  void finish_first(u32 qpn, ResponderQueue& q);
  // The same for a duplicate that no saved result answers.
  void finish_not_saved(u32 qpn, ResponderQueue& q);
  // Called on a reset: nothing leaves any more.
  void forget(ResponderQueue& q);

  // Lists a queue pair whose first outcome may be due.
  void list(u32 qpn, ResponderQueue& q);
  // The queue pairs of a port whose first outcome may be due.
  Ring<u32>& listed(unsigned port) { return listed_[port]; }

 private:
  void describe(Outcome& outcome, const Packet& p) const;
  void end_access(Outcome& outcome);
  static void answer_from(Outcome& outcome, const Packet& p, const proto::QpConfig& qp);

  u32 in_flight_ = 0;
  PerPort<Ring<u32>> listed_;
  Pool<Outcome> outcomes_;
  Pool<HeldRegion> held_regions_;
  const ExecuteStage& stage_;
  Accesses& accesses_;
  ParkedRequests& parked_;
  CreditUpdates& credits_;
  ByQp<Delayed>& reads_finished_;
};
}  // namespace hca::blocks

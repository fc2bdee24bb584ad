// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/delayed.h"
#include "model/blocks/receive/responder_execute/credit_updates.h"
#include "model/blocks/receive/responder_execute/execute_stage.h"
#include "model/blocks/receive/responder_execute/parked_requests.h"

namespace hca::blocks {
// The outcomes of requests that were carried out, in the order of their queue pairs: they are made
// here, and go when they have left or are over.
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
  // Makes the outcome of a request, the last of its queue pair; the caller says what it does.
  Outcome& retire(const Packet& p);
  // Of a READ or ATOMIC: the access to its region is under way until it is over.
  void begin_access(Outcome& outcome, const proto::Region& region);
  void drop_first(u32 qpn, ResponderQueue& q);
  // Of a READ or ATOMIC that is over.
  void finish_first(u32 qpn, ResponderQueue& q);
  // The same of a duplicate that nothing saved answers.
  void finish_not_saved(u32 qpn, ResponderQueue& q);
  // By a reset: nothing leaves any more.
  void forget(ResponderQueue& q);

  // The first outcome of a queue pair may be due.
  void list(u32 qpn, ResponderQueue& q);
  // The queue pairs of a port whose first outcome may be due.
  Ring<u32>& listed(unsigned port) { return listed_[port]; }

 private:
  void end_access(Outcome& outcome);

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

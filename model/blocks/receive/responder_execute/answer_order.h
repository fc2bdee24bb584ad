// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/receive/responder_execute/atomic_units.h"
#include "model/blocks/receive/responder_execute/outcomes.h"
#include "model/blocks/receive/responder_execute/read_responses.h"

namespace hca::blocks {
// Answers, completions and failures leave in the order of their queue pair; READs and ATOMICs begin
// in their turn within this order.
class AnswerOrder : ResponderPart {
 public:
  AnswerOrder(const ResponderPart& shared, const Protection& protection, ParkedRequests& parked,
              Outcomes& outcomes, ReadResponses& reads, AtomicUnits& atomics)
      : ResponderPart(shared),
        outcomes_(outcomes),
        reads_(reads),
        atomics_(atomics),
        parked_(parked),
        protection_(protection) {}

  // Settles one outcome of a port, its queue pairs in turn. True: the outcome has left. A READ or
  // ATOMIC only begins here; its own part ends it.
  bool settle(unsigned port);
  // Called by `command`: the key that a SEND with Invalidate named is invalidated; its accesses
  // have drained.
  void invalidated(u32 qpn, u32 life);
  void end_invalidate(u32 qpn, u32 life);

 private:
  static Outcome* next_to_begin(const ResponderQueue& q);
  void begin(u32 qpn, ResponderQueue& q, Outcome& outcome);
  bool emit(const Outcome& outcome);
  void examine_key(u32 qpn, ResponderQueue& q, Outcome& outcome);
  void tell_invalidate(u32 qpn, Outcome& outcome);
  void end_stopped(u32 qpn, ResponderQueue& q);

  Outcomes& outcomes_;
  ReadResponses& reads_;
  AtomicUnits& atomics_;
  ParkedRequests& parked_;
  const Protection& protection_;
};
}  // namespace hca::blocks

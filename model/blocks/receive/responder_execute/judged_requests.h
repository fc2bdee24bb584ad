// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "model/blocks/lib/engines.h"
#include "model/blocks/lib/ring.h"
#include "model/blocks/receive/responder_execute/responder_part.h"

namespace hca::blocks {
// Takes judged requests: the ports take turns, and with engines each request waits for the engine
// of its queue pair.
class JudgedRequests : ResponderPart {
 public:
  JudgedRequests(const ResponderPart& shared, PortLinks<PacketLink>& packets_in)
      : ResponderPart(shared),
        packets_in_(packets_in),
        engines_(config_.engines, config_.engine_interval, config_.assignment),
        for_engine_(config_.engines) {}

  // nullptr: there is none in this cycle.
  Packet* next() {
    if (engines_.limit()) [[unlikely]]
      return next_of_engines();
    PacketLink& link = packets_in_.next();
    if (!link.can_pop()) return nullptr;
    Packet* p = link.pop();
    packets_in_.pass_turn(link, now());
    return p;
  }
  bool engines_have_work() const;
  // The next request's outcome has no place, or a place is free again.
  void hold_for_places();
  void end_hold() {
    if (held_.what()) [[unlikely]]
      end_hold_for_places();
  }
  const Engines& engines() const { return engines_; }

 private:
  void end_hold_for_places();
  void lead_to_engine();
  Packet* next_of_engines();

  PortLinks<PacketLink>& packets_in_;
  Engines engines_;
  HeldFirst held_;
  std::vector<Ring<Packet*>> for_engine_;  // requests that wait for their engine
  unsigned turn_ = 0;                      // the engine that may take a request first
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/receive/responder_execute/judged_requests.h"

#include <algorithm>

namespace hca::blocks {
// Moves requests from the ports to their engines, one a cycle.
inline void JudgedRequests::lead_to_engine() {
  PacketLink& link = packets_in_.next();
  if (!link.can_pop()) return;
  Packet* p = link.front();
  const unsigned engine = engines_.of(p->qpn);
  Ring<Packet*>& waiting = for_engine_[engine];
  const bool full = waiting.size() == config_.engine_queue;
  if (full || held_.what()) [[unlikely]]
    held_.change(full ? &ResponderExecuteCounters::waits_engine : nullptr, now(), counters_);
  if (full) return;
  counters_.engine_waits += !waiting.empty() || engines_.free_from(engine) > now();
  p->life = queues_[p->qpn].life;
  waiting.push(p);
  link.drop();
  packets_in_.pass_turn(link, now());
}

// Takes the next request whose engine is free.
[[gnu::cold]] Packet* JudgedRequests::next_of_engines() {
  lead_to_engine();
  Packet* next = nullptr;
  const bool served = serve_in_turn(engines_.count(), turn_, [&](unsigned engine) {
    if (for_engine_[engine].empty() || engines_.free_from(engine) > now()) return false;
    next = for_engine_[engine].pop();
    engines_.take(engine, now());
    return true;
  });
  Cycle again = served && packets_in_.can_pop() ? now() + 1 : kNever;
  for (unsigned engine = 0; engine < engines_.count(); ++engine)
    if (!for_engine_[engine].empty())
      again = std::min(again, std::max(engines_.free_from(engine), now() + 1));
  if (again != kNever) wake_at(again);
  if (next && next->life != queues_[next->qpn].life) {  // judged before a reset (T13)
    counts_.drop(contexts_.qps[next->qpn].port, &proto::DropCounters::bad_qp_state);
    PacketPool::give_back(std::exchange(next, nullptr));
  }
  return next;
}

void JudgedRequests::hold_for_places() {
  if (!packets_in_.can_pop() && !engines_have_work()) return;
  held_.change(&ResponderExecuteCounters::waits_places, now(), counters_);
}

void JudgedRequests::end_hold_for_places() {
  if (held_.what() == &ResponderExecuteCounters::waits_places)
    held_.change(nullptr, now(), counters_);
}

bool JudgedRequests::engines_have_work() const {
  return std::ranges::any_of(for_engine_, [](const auto& waiting) { return !waiting.empty(); });
}
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/ack_timers.h"
#include "model/blocks/send/requester/fetched_turns.h"

namespace hca::blocks {
// Ends work requests in the order of their queue pair: completed, failed, or flushed. At most one
// CQE a cycle.
class WorkEnds : RequesterPart {
 public:
  WorkEnds(const RequesterPart& shared, RequesterOutbox& outbox, SendOrder& order,
           FetchedTurns& turns, AckTimers& timers)
      : RequesterPart(shared), outbox_(outbox), order_(order), turns_(turns), timers_(timers) {}

  EeService* ee_service = nullptr;

  // Completes the finished work requests of the queue pair in the next ticks.
  void queue(u32 qpn, SendQueue& q);
  // The WQE `index` ends with `status` when all before it are done; then the queue pair enters
  // Error.
  void fail(u32 qpn, u32 index, proto::WcStatus status);
  void fail_unread(u32 qpn);
  // The queue pair is in Error, or has been requested to enter it.
  void enter_error(u32 qpn);
  // Takes a turn of a queue pair in Error: its WQEs are flushed.
  void add_flush(Turn* turn) { flushing_.push(turn); }

  // Called in each tick, in this order.
  void enter_errors();
  void complete();
  void flush();
  bool has_errors() const { return !errors_.empty(); }
  bool has_completions() const { return !completing_.empty(); }
  bool has_flushes() const { return !flushing_.empty(); }
  bool has_any() const { return has_errors() || has_completions() || has_flushes(); }

  void push_completion(u32 qpn, u32 index, proto::WcStatus status,
                       const proto::SentMessage* message);

 private:
  bool complete_one(u32 qpn, SendQueue& q);
  void fail_refused(u32 qpn, SendQueue& q);
  void push_drained(u32 qpn, proto::EventType event);

  RequesterOutbox& outbox_;
  SendOrder& order_;
  FetchedTurns& turns_;
  AckTimers& timers_;
  Ring<u32> completing_, errors_;
  Ring<Turn*> flushing_;
};
}  // namespace hca::blocks

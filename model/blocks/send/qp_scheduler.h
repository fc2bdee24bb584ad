// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/items.h"
#include "model/blocks/lib/by_qp.h"
#include "model/blocks/lib/standstill.h"
#include "model/blocks/send/qp_scheduler_config.h"
#include "model/blocks/send/ready_queues.h"
#include "model/device/contexts.h"
#include "model/device/writers.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct QpSchedulerCounters {
  u64 turns = 0, wqes = 0, pauses = 0, stale_pushes = 0, refused_pushes = 0, waits_turns = 0;
  u64 waits_pushes = 0;
};

// Chooses the queue pair that sends next. A queue pair with WQEs to fetch is in the ready list once
// and gets turns by the policy (by default round robin). A turn is a run of consecutive WQEs:
// pushed WQEs held here, or the WQEs to read before the next pushed one.
//
// Contract: a doorbell or note seen in cycle n makes a turn that wqe_fetch sees from n + latency
// on; one turn each `interval` cycles.
class QpScheduler : public engine::Block {
 public:
  struct Outputs {
    TurnLink* turns_out = nullptr;
  };
  QpScheduler(const QpSchedulerConfig& config, device::Contexts& contexts)
      : turns(config.slots),
        config_(config),
        contexts_(contexts),
        posted_(contexts),
        ready_(config.policy, config.weight) {}

  SendBellLink bells_in{8};
  NoteLink notes_in{8};
  Outputs outputs;
  engine::Budget turns;  // returned by the requester
  QpSchedulerCounters counters;
  engine::Probe probe;

  void tick();
  SchedulerHold hold(u32 qpn) const;

 private:
  struct Queue {
    u32 posted = 0, fetch = 0, epoch = 0;
    u32 fetched = 0;  // index after the newest WQE that was in a turn
    u16 turns = 0;    // in flight
    bool ready = false, paused = false, flush = false;
    PushedWqe *first_pushed = nullptr, *last_pushed = nullptr;  // waiting for their turn
    // since when there are WQEs to fetch, but all turns are in flight
    Cycle full_since = engine::kNever;
  };
  void ring(const SendBell& bell);
  void hold(const proto::QpConfig& qp, Queue& q, PushedWqe* pushed);
  PushedWqe* take_pushed(Queue& q);
  void drop_pushed(Queue& q);
  void drop_passed(Queue& q);
  void choose_run(Queue& q, Turn& turn);
  void note(const SchedulerNote& n);
  void make_ready(u32 qpn);
  bool wants_turn(const Queue& q) const {
    return q.fetch != q.posted && !q.paused && q.turns < config_.turns;
  }
  void start_turn(u32 qpn);
  void end_wait(Queue& q);

  const QpSchedulerConfig config_;
  const device::Contexts& contexts_;
  const device::PostedSends posted_;
  ByQp<Queue> queues_;
  ReadyQueues ready_;
  Pool<Turn> pool_;
  u32 held_ = 0;                          // pushed WQEs
  Cycle refused_since_ = engine::kNever;  // since when a pushed WQE has had no room
  Cycle next_turn_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Counters<hca::blocks::QpSchedulerCounters> {
  using C = hca::blocks::QpSchedulerCounters;
  static constexpr std::string_view block = "qp_scheduler";
  static constexpr auto rows =
      make_rows(counter("turns", &C::turns, "turns", "turns given"),
                counter("wqes", &C::wqes, "WQEs", "WQEs in these turns"),
                counter("pauses", &C::pauses, "pauses", "queue pairs paused by the requester"),
                counter("stale_pushes", &C::stale_pushes, "WQEs",
                        "pushed WQEs read because they came after their turn"),
                counter("refused_pushes", &C::refused_pushes, "WQEs",
                        "pushed WQEs read for lack of room (pushes)"),
                counter("waits_turns", &C::waits_turns, kWaited,
                        "a turn of the same queue pair in flight (turns), over all queue pairs"),
                counter("waits_pushes", &C::waits_pushes, kWaited,
                        "room for pushed WQEs (pushes); WQEs that arrive meanwhile are read"));
};

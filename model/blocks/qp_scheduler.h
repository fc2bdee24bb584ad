// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/by_qp.h"
#include "model/blocks/contexts.h"
#include "model/blocks/items.h"
#include "model/blocks/ready_queues.h"
#include "model/blocks/stage_config.h"
#include "model/blocks/standstill.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct QpSchedulerConfig {
  Cycle latency = 3, interval = 2;
  u32 batch = 8;   // WQEs of one turn, at most
  u32 turns = 2;   // of one queue pair in flight
  u32 slots = 64;  // turns in flight in all
  u32 pushes = 64;
  SchedulerPolicy policy = SchedulerPolicy::RoundRobin;
  // Turns of a traffic class.
  u32 weight_0 = 1, weight_1 = 1, weight_2 = 1, weight_3 = 1;
  u32 weight_4 = 1, weight_5 = 1, weight_6 = 1, weight_7 = 1;

  ReadyQueues::Weights weights() const {
    return {weight_0, weight_1, weight_2, weight_3, weight_4, weight_5, weight_6, weight_7};
  }
};
struct QpSchedulerCounters {
  u64 turns = 0, wqes = 0, pauses = 0, stale_pushes = 0, refused_pushes = 0, waits_turns = 0;
  u64 waits_pushes = 0;
};

// Which queue pair sends next. A queue pair that has WQEs to fetch stands in the ready list once;
// it gets turns by the policy, most often in rotation, each a run of consecutive WQEs: of those
// that were pushed and are held here, or of those that are to be read in front of them.
//
// Contract: a doorbell or note seen in cycle n makes a turn that wqe_fetch sees from n + latency
// on; one turn each `interval` cycles.
class QpScheduler : public engine::Block {
 public:
  struct Ports {
    TurnLink* turns_out = nullptr;
  };
  QpScheduler(const QpSchedulerConfig& config, const Contexts& contexts)
      : turns(config.slots),
        config_(config),
        contexts_(contexts),
        ready_(config.policy, config.weights()) {}

  SendBellLink bells_in{8};
  NoteLink notes_in{8};
  Ports ports;
  engine::Budget turns;  // given back by the requester
  QpSchedulerCounters counters;
  engine::Probe probe;

  void tick();
  SchedulerHold hold(u32 qpn) const;

 private:
  struct Queue {
    u32 posted = 0, fetch = 0, epoch = 0;
    u32 fetched = 0;  // behind the newest WQE that was in a turn
    u16 turns = 0;    // in flight
    bool ready = false, paused = false, flush = false;
    PushedWqe *first_pushed = nullptr, *last_pushed = nullptr;  // that wait for their turn
    Cycle full_since = engine::kNever;  // has WQEs to fetch, and all its turns in flight
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
  const Contexts& contexts_;
  ByQp<Queue> queues_;
  ReadyQueues ready_;
  Pool<Turn> pool_;
  u32 held_ = 0;                          // pushed WQEs
  Cycle refused_since_ = engine::kNever;  // one for which there is no room
  Cycle next_turn_ = 0;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::QpSchedulerConfig> {
  using C = hca::blocks::QpSchedulerConfig;
  static constexpr std::string_view block = "qp_scheduler";
  static constexpr std::string_view sentence = "which queue pair sends next";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a doorbell to its turn", "between two turns"),
      make_rows(
          knob("batch", &C::batch, Unit::Count, 1, 16, "WQEs of one turn, at most"),
          knob("turns", &C::turns, Unit::Count, 1, 8, "turns of one queue pair in flight"),
          knob("slots", &C::slots, Unit::Count, 1, blocks::kMostTurns, "turns in flight in all"),
          knob("pushes", &C::pushes, Unit::Count, 0, 4096,
               "pushed WQEs that wait for their turn, of all queue pairs; one for which there is "
               "no room is read"),
          knob("policy", &C::policy, blocks::kSchedulerPolicyNames,
               "whose turn comes, here and packet by packet in requester: in rotation; by the "
               "weights of traffic classes, the low three bits of the SL; the highest class "
               "first"),
          knob("weight_0", &C::weight_0, Unit::Count, 1, 255,
               "of weighted: turns, packets of traffic class 0 before those of the next"),
          knob("weight_1", &C::weight_1, Unit::Count, 1, 255, "of traffic class 1"),
          knob("weight_2", &C::weight_2, Unit::Count, 1, 255, "of traffic class 2"),
          knob("weight_3", &C::weight_3, Unit::Count, 1, 255, "of traffic class 3"),
          knob("weight_4", &C::weight_4, Unit::Count, 1, 255, "of traffic class 4"),
          knob("weight_5", &C::weight_5, Unit::Count, 1, 255, "of traffic class 5"),
          knob("weight_6", &C::weight_6, Unit::Count, 1, 255, "of traffic class 6"),
          knob("weight_7", &C::weight_7, Unit::Count, 1, 255, "of traffic class 7")));
};
template <>
struct hca::engine::Counters<hca::blocks::QpSchedulerCounters> {
  using C = hca::blocks::QpSchedulerCounters;
  static constexpr std::string_view block = "qp_scheduler";
  static constexpr auto rows = make_rows(
      counter("turns", &C::turns, "turns", "turns given"),
      counter("wqes", &C::wqes, "WQEs", "WQEs in these turns"),
      counter("pauses", &C::pauses, "pauses", "queue pairs stopped by the requester for a time"),
      counter("stale_pushes", &C::stale_pushes, "WQEs",
              "pushed WQEs whose turn was over when they came: read"),
      counter("refused_pushes", &C::refused_pushes, "WQEs",
              "pushed WQEs for which there was no room (pushes): read"),
      counter("waits_turns", &C::waits_turns, kWaited,
              "turns of their own in flight (turns), of all queue pairs"),
      counter("waits_pushes", &C::waits_pushes, kWaited,
              "room for pushed WQEs (pushes): those that come meanwhile are read"));
};

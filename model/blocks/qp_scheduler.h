// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/by_qp.h"
#include "model/blocks/contexts.h"
#include "model/blocks/items.h"
#include "model/blocks/ring.h"
#include "model/blocks/stage_config.h"
#include "model/blocks/standstill.h"
#include "model/engine/budget.h"

namespace hca::blocks {
struct QpSchedulerConfig {
  Cycle latency = 3, interval = 2;
  u32 batch = 8;   // WQEs of one turn, at most
  u32 turns = 2;   // of one queue pair in flight
  u32 slots = 64;  // turns in flight in all
};
struct QpSchedulerCounters {
  u64 turns = 0, wqes = 0, pauses = 0, stale_pushes = 0;
};

// Which queue pair sends next. A queue pair that has WQEs to fetch stands in the ready list once;
// it gets turns in rotation, each a run of consecutive WQEs.
//
// Contract: a doorbell or note seen in cycle n makes a turn that wqe_fetch sees from n + latency
// on; one turn each `interval` cycles.
class QpScheduler : public engine::Block {
 public:
  struct Ports {
    TurnLink* turns_out = nullptr;
  };
  QpScheduler(const QpSchedulerConfig& config, const Contexts& contexts)
      : turns(config.slots), config_(config), contexts_(contexts) {}

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
    u16 turns = 0;  // in flight
    bool ready = false, paused = false, flush = false;
    PushedWqe* pushed = nullptr;  // of WQE posted - 1
  };
  void ring(const SendBell& bell);
  void note(const SchedulerNote& n);
  void make_ready(u32 qpn);
  bool wants_turn(const Queue& q) const {
    return q.fetch != q.posted && !q.paused && q.turns < config_.turns;
  }
  void start_turn(u32 qpn);

  const QpSchedulerConfig config_;
  const Contexts& contexts_;
  ByQp<Queue> queues_;
  Ring<u32> ready_;
  Pool<Turn> pool_;
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
      make_rows(knob("batch", &C::batch, Unit::Count, 1, 16, "WQEs of one turn, at most"),
                knob("turns", &C::turns, Unit::Count, 1, 8, "turns of one queue pair in flight"),
                knob("slots", &C::slots, Unit::Count, 1, 64, "turns in flight in all")));
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
              "pushed WQEs that came late and are fetched"));
};

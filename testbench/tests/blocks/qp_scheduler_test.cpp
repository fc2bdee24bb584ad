// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/qp_scheduler.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct SchedulerBench : Bench {
  SchedulerBench(const QpSchedulerConfig& c, const Plan<SendBell>& bells,
                 const Plan<SchedulerNote>& notes = {}, unsigned depth = 8, Cycle from = 0)
      : config(c), scheduler(config, contexts) {
    set_up(contexts, 4);
    add(scheduler, "qp_scheduler");
    scheduler.turns.connect(scheduler.self, "turn buffers");
    feed(scheduler.bells_in, scheduler, bells);
    feed(scheduler.notes_in, scheduler, notes);
    turns = &take(scheduler.ports.turns_out, scheduler, depth, from);
  }
  Cycles seen() {
    domain.run_until(200);
    return turns->seen;
  }
  QpSchedulerConfig config;
  Contexts contexts;
  QpScheduler scheduler;
  Taker<Turn*, 8>* turns = nullptr;
};
constexpr SendBell bell(u32 qpn, u16 producer) { return {qpn, producer, nullptr}; }
}  // namespace

TEST_CASE("a doorbell makes a turn after the latency, the next one an interval later",
          "[qp_scheduler]") {
  const QpSchedulerConfig config{.latency = 3, .interval = 4, .batch = 8};
  CHECK(SchedulerBench(config, {{10, bell(1, 1)}, {11, bell(2, 1)}}).seen() ==
        Cycles{13, 14 + 3});  // blocked in 13
  CHECK(SchedulerBench(config, {{10, bell(1, 1)}, {14, bell(2, 1)}}).seen() ==
        Cycles{13, 14 + 3});  // ready in 14
  CHECK(SchedulerBench(config, {{10, bell(1, 1)}, {15, bell(2, 1)}}).seen() == Cycles{13, 15 + 3});
}

TEST_CASE("a turn holds a run of WQEs, at most a batch of them", "[qp_scheduler]") {
  SchedulerBench bench({.batch = 8, .turns = 8}, {{10, bell(1, 19)}});
  bench.seen();
  REQUIRE(bench.turns->items.size() == 3);
  CHECK(bench.turns->items[0]->count == 8);
  CHECK(bench.turns->items[2]->first == 16);
  CHECK(bench.turns->items[2]->count == 3);
}

TEST_CASE("without a turn buffer the scheduler is blocked at n - 1 and ready at n",
          "[qp_scheduler]") {
  // Two slots: the third turn starts in the cycle from which the buffer that comes back counts.
  SchedulerBench bench({.latency = 3, .interval = 2, .batch = 1, .turns = 8, .slots = 2},
                       {{10, bell(1, 3)}});
  bench.plan({{33, [&] { bench.scheduler.turns.give(40); }}});
  CHECK(bench.seen() == Cycles{10 + 3, 12 + 3, 40 + 3});
}

TEST_CASE("a queue pair with its share of turns in flight waits for TurnDone, others do not",
          "[qp_scheduler]") {
  const QpSchedulerConfig config{.latency = 3, .interval = 2, .batch = 1, .turns = 1};
  SchedulerBench bench(config, {{10, bell(1, 2)}, {11, bell(2, 1)}},
                       {{40, {NoteKind::TurnDone, 1, 0, 0}}});
  CHECK(bench.seen() == Cycles{10 + 3, 12 + 3, 40 + 3});
  CHECK(bench.turns->items[1]->qpn == 2);
}

TEST_CASE("a paused queue pair gets no turn before Resume", "[qp_scheduler][G8.2]") {
  SchedulerBench bench({}, {{20, bell(1, 2)}},
                       {{10, {NoteKind::Pause, 1, 0, 1}}, {60, {NoteKind::Resume, 1, 0, 0}}});
  CHECK(bench.seen() == Cycles{60 + 3});
}

TEST_CASE("a turn waits for room behind the scheduler", "[qp_scheduler]") {
  // The only room is taken in 10 and free again in 51.
  SchedulerBench bench({.latency = 3, .interval = 2}, {{10, bell(1, 1)}, {20, bell(2, 1)}}, {}, 1,
                       50);
  CHECK(bench.seen() == Cycles{50, 51 + 3});
}

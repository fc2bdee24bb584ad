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

namespace {
// The queue pairs of the turns, in their order; `levels`: SLs of queue pairs 1, 2, 3 and 4.
std::vector<u32> order_of(SchedulerBench& bench, std::array<u8, 4> levels) {
  for (u32 i = 0; i < levels.size(); ++i) bench.contexts.qps[i + 1].service_level = levels[i];
  bench.seen();
  std::vector<u32> qpns;
  for (const Turn* turn : bench.turns->items) qpns.push_back(turn->qpn);
  return qpns;
}
using Qpns = std::vector<u32>;
}  // namespace

TEST_CASE("strict: the highest traffic class has the next turn", "[qp_scheduler][policy]") {
  // Queue pair 1 has its turn in 10; the others wait for its buffer. SL 9 is class 1.
  const auto order = [](SchedulerPolicy policy) {
    SchedulerBench bench({.batch = 1, .turns = 1, .slots = 1, .policy = policy},
                         {{10, bell(1, 1)}, {11, bell(2, 1)}, {12, bell(3, 1)}, {13, bell(4, 1)}});
    bench.plan({{40, [&] { bench.scheduler.turns.give(41); }},
                {50, [&] { bench.scheduler.turns.give(51); }},
                {60, [&] { bench.scheduler.turns.give(61); }}});
    return order_of(bench, {0, 1, 7, 9});
  };
  CHECK(order(SchedulerPolicy::RoundRobin) == Qpns{1, 2, 3, 4});
  CHECK(order(SchedulerPolicy::Strict) == Qpns{1, 3, 2, 4});
}

TEST_CASE("weighted: a traffic class has as many turns as its weight", "[qp_scheduler][policy]") {
  const QpSchedulerConfig config{.latency = 3,
                                 .interval = 2,
                                 .batch = 1,
                                 .turns = 8,
                                 .policy = SchedulerPolicy::Weighted,
                                 .weight_1 = 2};
  // Class 1 has two of three turns until its six WQEs are gone.
  SchedulerBench two(config, {{10, bell(1, 6)}, {11, bell(2, 6)}});
  CHECK(order_of(two, {0, 1, 0, 0}) == Qpns{1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 1, 1});
  // Two queue pairs of a class share its turns.
  SchedulerBench shared(config, {{10, bell(1, 4)}, {11, bell(2, 3)}, {12, bell(3, 3)}});
  CHECK(order_of(shared, {0, 1, 1, 0}) == Qpns{1, 2, 3, 1, 2, 3, 1, 2, 3, 1});
}

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/qp_scheduler.h"

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
    turns = &take(scheduler.outputs.turns_out, scheduler, depth, from);
  }
  Cycles seen() {
    domain.run_until(200);
    return turns->seen;
  }
  QpSchedulerConfig config;
  device::Contexts contexts;
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
// Doorbells of one queue pair in 20, 21, ..., while it is paused: producer indices, below 0 with a
// pushed WQE. Its turns: how many WQEs, and how many of them were pushed.
struct Pushes {
  Pushes(const QpSchedulerConfig& config, const std::vector<int>& bells) {
    Plan<SendBell> plan;
    for (const int producer : bells) {
      PushedWqe* pushed = producer < 0 ? pool.take() : nullptr;
      plan.push_back({20 + plan.size(), {1, u16(std::abs(producer)), pushed}});
    }
    SchedulerBench bench(config, plan,
                         {{10, {NoteKind::Pause, 1, 0, 1}}, {60, {NoteKind::Resume, 1, 0, 0}}});
    bench.seen();
    for (const Turn* t : bench.turns->items) {
      int pushed = 0;
      for (const PushedWqe* p = t->pushed; p; p = p->next)
        CHECK(p->index == t->first + u32(pushed++));
      turns.push_back({int(t->count), pushed});
    }
    counters = bench.scheduler.counters;
  }
  Pool<PushedWqe> pool;
  std::vector<std::pair<int, int>> turns;
  QpSchedulerCounters counters;
};
using Turns = std::vector<std::pair<int, int>>;
}  // namespace

TEST_CASE("pushed WQEs that are next are a turn, those in front of them are read",
          "[qp_scheduler][push]") {
  const QpSchedulerConfig config{.batch = 4, .turns = 8};
  // Two pushed, two not, two pushed.
  CHECK(Pushes(config, {-1, -2, 4, -5, -6}).turns == Turns{{2, 2}, {2, 0}, {2, 2}});
  CHECK(Pushes(config, {6, -7}).turns == Turns{{4, 0}, {2, 0}, {1, 1}});
  CHECK(Pushes(config, {-1, -2, -3, -4, -5, -6}).turns == Turns{{4, 4}, {2, 2}});
  // A push that tells of nothing new.
  const Pushes again(config, {-1, -1, 2});
  CHECK(again.turns == Turns{{1, 1}, {1, 0}});
  CHECK(again.counters.stale_pushes == 1);
}

TEST_CASE("a pushed WQE for which there is no room is read", "[qp_scheduler][push]") {
  const Pushes run({.turns = 8, .pushes = 2}, {-1, -2, -3, -4});
  CHECK(run.turns == Turns{{2, 2}, {2, 0}});
  CHECK(run.counters.refused_pushes == 2);
  CHECK(Pushes({.turns = 8, .pushes = 0}, {-1}).turns == Turns{{1, 0}});
}

// There is room for one. Queue pairs 1, 2, 3 and 4 are paused; 1 pushes in 20, and its push goes in
// 30 or, with a turn, in 50; 2 pushes in 40, 3 in 60.
TEST_CASE("room of a pushed WQE is free when it is in a turn or its queue pair is flushed",
          "[qp_scheduler][push]") {
  for (const NoteKind note : {NoteKind::Flush, NoteKind::Clear, NoteKind::Resume}) {
    Pool<PushedWqe> pool;
    SchedulerBench bench(
        {.pushes = 1},
        {{20, {1, 1, pool.take()}}, {25, {2, 1, pool.take()}}, {40, {3, 1, pool.take()}}},
        {{10, {NoteKind::Pause, 1, 0, 1}},
         {11, {NoteKind::Pause, 2, 0, 1}},
         {12, {NoteKind::Pause, 3, 0, 1}},
         {30, {note, 1, 0, 2}},
         {60, {NoteKind::Resume, 3, 0, 1}}});
    bench.seen();
    CHECK(bench.scheduler.counters.refused_pushes == 1);
    CHECK(bench.turns->items.back()->pushed != nullptr);
  }
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
                                 .weight = {1, 2, 1, 1, 1, 1, 1, 1}};
  // Class 1 has two of three turns until its six WQEs are gone.
  SchedulerBench two(config, {{10, bell(1, 6)}, {11, bell(2, 6)}});
  CHECK(order_of(two, {0, 1, 0, 0}) == Qpns{1, 2, 2, 1, 2, 2, 1, 2, 2, 1, 1, 1});
  // Two queue pairs of a class share its turns.
  SchedulerBench shared(config, {{10, bell(1, 4)}, {11, bell(2, 3)}, {12, bell(3, 3)}});
  CHECK(order_of(shared, {0, 1, 1, 0}) == Qpns{1, 2, 3, 1, 2, 3, 1, 2, 3, 1});
}

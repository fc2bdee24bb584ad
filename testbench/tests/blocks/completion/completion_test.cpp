// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion/completion.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct CompletionBench : Bench {
  static constexpr u64 kClock = 100'000'000;  // 100 cycles are 1 us
  CompletionBench(const CompletionConfig& c, const Cycles& sends, const Cycles& receives = {},
                  unsigned depth = 8, Cycle from = 0, bool drained = false,
                  const Plan<proto::CqDoorbell>& bells = {}, bool solicited = false,
                  unsigned events_depth = 4, Cycle events_from = 0)
      : config(c), completion(config, kClock, contexts, accesses) {
    PairConfig two;
    two.armed = true;
    set_up(contexts, two, false);
    add(completion, "completion");
    feed(completion.completions_in[0], completion, plan_of(sends, drained, solicited));
    feed(completion.completions_in[1], completion, plan_of(receives));
    feed(completion.bells_in, completion, bells);
    completion.written_in.connect(completion.self, completion.self, "CQEs in memory");
    completion.changed_in.connect(completion.self, completion.self, "CQs changed");
    completion.buffers.connect(completion.self, "CQE buffers");
    completion.dma = completion.self;
    writes = &take(completion.outputs.dma_out, completion, depth, from);
    events = &take(completion.outputs.events_out, completion, events_depth, events_from);
    faults = &take(completion.outputs.faults_out, completion);
  }
  // `drained`: all but the first tell that their queue pair is drained, or the only one does.
  static Plan<Completed> plan_of(const Cycles& cycles, bool drained = false,
                                 bool solicited = false) {
    Plan<Completed> plan;
    Completed one;
    one.cqn = one.cqe.qpn = 1;
    one.cqe.solicited = solicited;
    for (const Cycle at : cycles) plan.push_back({at, one});
    for (std::size_t i = plan.size() > 1; drained && i < plan.size(); ++i)
      plan[i].second.event = proto::EventType::SqDrained;
    return plan;
  }
  void in_memory(std::size_t i) {
    const DmaCallbacks client = completion.client();
    client.released(client.self, writes->items.at(i));
  }
  Cycles seen() {
    domain.run_until(1000);
    return writes->seen;
  }
  CompletionConfig config;
  device::Contexts contexts;
  Completion completion;
  Taker<DmaRequest, 8>* writes = nullptr;
  Taker<EventNote, 4>* events = nullptr;
  Taker<Fault, 4>* faults = nullptr;
};
}  // namespace

TEST_CASE("a completion asks for its write after the latency, the next one an interval later",
          "[completion]") {
  const CompletionConfig config{.latency = 3, .interval = 5};
  CHECK(CompletionBench(config, {10}, {14}).seen() == Cycles{13, 15 + 3});  // blocked in 14
  CHECK(CompletionBench(config, {10}, {15}).seen() == Cycles{13, 15 + 3});  // ready in 15
  CHECK(CompletionBench(config, {10}, {16}).seen() == Cycles{13, 16 + 3});
}

TEST_CASE("the completions of both sides take turns", "[completion]") {
  CompletionBench bench({.latency = 3, .interval = 2}, {10, 10, 10}, {10, 10});
  CHECK(bench.seen() == Cycles{13, 15, 17, 19, 21});
}

TEST_CASE("a completion waits for room in front of dma", "[completion]") {
  CHECK(CompletionBench({.latency = 3, .interval = 1}, {10, 11}, {}, 1, 50).seen() ==
        Cycles{50, 51 + 3});
}

TEST_CASE("without a CQE buffer a completion is blocked at n - 1 and ready at n", "[completion]") {
  // Given to the completions of 10 on, one a cycle; the first comes back in 199 and counts from 200
  // on.
  const u32 buffers = GENERATE(1u, 5u, 64u);
  CompletionBench bench({.latency = 3, .interval = 1, .buffers = buffers}, Cycles(buffers + 1, 10));
  bench.contexts.cqs[1].eqn = GENERATE(0u, 1u);  // without events too
  bench.plan({{199, [&] { bench.in_memory(0); }}});
  Cycles wanted;
  for (Cycle i = 0; i < buffers; ++i) wanted.push_back(10 + i + 3);
  wanted.push_back(200 + 3);
  CHECK(bench.seen() == wanted);
}

TEST_CASE("an armed CQ raises one event when its CQE is in memory", "[completion][G21.2]") {
  CompletionBench bench({}, {10, 11});
  bench.plan({{80, [&] { bench.in_memory(0); }}, {81, [&] { bench.in_memory(1); }}});
  bench.seen();
  CHECK(bench.events->seen == Cycles{80 + 1 + 1});  // seen by completion in 81, by event in 82
}

// The CQE is in memory in 80, the doorbell that arms is seen in 100, its event in 101: the next one
// if the CQE is not taken, a solicited one if the CQE is.
TEST_CASE("a doorbell that arms a CQ with CQEs not taken raises the event", "[completion]") {
  struct Case {
    proto::Arm arm;
    u32 taken;
    bool solicits, raises;
  };
  const Case c = GENERATE(
      Case{proto::Arm::Next, 0, false, true}, Case{proto::Arm::Next, 1, true, false},
      Case{proto::Arm::Solicited, 0, true, true}, Case{proto::Arm::Solicited, 0, false, false},
      Case{proto::Arm::Solicited, 1, true, false}, Case{proto::Arm::None, 0, true, false});
  CAPTURE(int(c.arm), c.taken, c.solicits);
  CompletionBench bench({}, {10}, {}, 8, 0, false, {{100, {c.arm, 1, c.taken}}}, c.solicits);
  device::EventRing& cq = bench.contexts.cqs[1];
  cq.armed = proto::Arm::None;
  bench.plan({{80, [&] { bench.in_memory(0); }}});
  bench.seen();
  CHECK(bench.events->seen == (c.raises ? Cycles{101} : Cycles{}));
  CHECK((cq.armed == proto::Arm::None) == (c.raises || c.arm == proto::Arm::None));
}

// The CQE is in memory in 80, the event raised in 81 and seen in 82; without a CQE in 11.
TEST_CASE("SQ_DRAINED waits until the CQEs in front of it are in memory",
          "[completion][T15-SQ_DRAINED]") {
  CompletionBench behind({}, {10, 11}, {}, 8, 0, true), alone({}, {10}, {}, 8, 0, true);
  behind.contexts.cqs[1].armed = proto::Arm::None;
  behind.plan({{80, [&] { behind.in_memory(0); }}});
  CHECK(behind.seen() == Cycles{13});
  CHECK(behind.events->seen == Cycles{82});
  CHECK(behind.events->items.at(0).event.type == proto::EventType::SqDrained);
  CHECK(behind.events->items.at(0).eqn == proto::kAsyncEq);
  CHECK(alone.seen().empty());
  CHECK(alone.events->seen == Cycles{12});
}

// In 10 and 11 one CQE each: CQ_ERR once, and QP_FATAL for the queue pair each time.
TEST_CASE("a full CQ overflows: faults instead of CQEs", "[completion][G21.3][T15-CQ_ERR]") {
  CompletionBench bench({}, {10, 11});
  bench.contexts.cqs[1].producer = bench.contexts.cqs[1].consumer + bench.contexts.cqs[1].entries();
  CHECK(bench.seen().empty());
  REQUIRE(bench.faults->seen == Cycles{11, 12, 13});
  const std::vector<Fault>& faults = bench.faults->items;
  CHECK(faults[0].event == proto::EventType::CqErr);
  CHECK_FALSE(faults[0].fails);
  for (const Fault& fault : {faults[1], faults[2]}) {
    CHECK(fault.event == proto::EventType::QpFatal);
    CHECK(fault.fails);
  }
}

// A full CQ and one completion, in 10: CQ_ERR goes first, QP_FATAL follows a cycle later.
TEST_CASE("the second fault of an overflow follows without another completion",
          "[completion][G21.3][T15-QP_FATAL]") {
  CompletionBench bench({}, {10});
  bench.contexts.cqs[1].producer = bench.contexts.cqs[1].consumer + bench.contexts.cqs[1].entries();
  bench.seen();
  CHECK(bench.faults->seen == Cycles{11, 12});
}

// Of a CQ without an event queue nobody else hears that its CQE is in memory.
TEST_CASE("SQ_DRAINED follows the CQE of a CQ without an event queue",
          "[completion][T15-SQ_DRAINED][wakeup]") {
  CompletionBench bench({}, {10, 11}, {}, 8, 0, true);
  bench.contexts.cqs[1].eqn = 0;
  bench.plan({{80, [&] { bench.in_memory(0); }}});
  bench.seen();
  CHECK(bench.events->seen == Cycles{82});
}

// Both wait for the CQE before them: it is in memory in 80, they are raised in 81 and 82.
TEST_CASE("two queue pairs that are drained by one CQE raise one event a cycle",
          "[completion][T15-SQ_DRAINED]") {
  CompletionBench bench({}, {10, 11, 12}, {}, 8, 0, true);
  bench.contexts.cqs[1].armed = proto::Arm::None;
  bench.plan({{80, [&] { bench.in_memory(0); }}});
  bench.seen();
  CHECK(bench.events->seen == Cycles{82, 83});
}

namespace {
struct Moderated {
  u16 count, period;
  Cycles in_memory;
  Plan<proto::CqDoorbell> bells;
  Cycles wanted;
  proto::Arm armed = proto::Arm::Next;
  bool solicited = false;
};
Cycles events_of(const Moderated& m) {
  CompletionBench bench({}, Cycles(m.in_memory.size(), 10), {}, 8, 0, false, m.bells, m.solicited);
  device::EventRing& cq = bench.contexts.cqs[1];
  cq.armed = m.armed, cq.event_count = m.count, cq.event_period = m.period;
  std::map<Cycle, std::function<void()>> plan;
  for (std::size_t i = 0; i < m.in_memory.size(); ++i)
    plan[m.in_memory[i]] = [&bench, i] { bench.in_memory(i); };
  bench.plan(plan);
  bench.seen();
  return bench.events->seen;
}
}  // namespace

// A CQE in memory in n is seen in n + 1, its event without moderation in n + 2. 1 us are 100
// cycles.
TEST_CASE("with moderation an event waits for so many CQEs, or for so long after the first",
          "[completion][G21.2]") {
  CHECK(events_of({0, 0, {80, 90, 95}, {}, {82}}) == Cycles{82});
  const Moderated m =
      GENERATE(Moderated{3, 0, {80, 90, 95}, {}, {97}}, Moderated{3, 0, {80, 90}, {}, {}},
               Moderated{3, 1, {80, 90, 95, 96}, {}, {97}}, Moderated{3, 1, {80, 90}, {}, {182}},
               Moderated{3, 1, {80, 90, 179}, {}, {181}}, Moderated{3, 1, {80, 90, 180}, {}, {182}},
               Moderated{0, 2, {80, 90, 95}, {}, {282}}, Moderated{1, 2, {80, 90}, {}, {82}});
  CAPTURE(m.count, m.period);
  CHECK(events_of(m) == m.wanted);
}

// The doorbell is seen in its cycle, an event that it raises one later.
TEST_CASE("the period of moderation begins when the CQ is armed and has a CQE not taken",
          "[completion][G21.2]") {
  using enum proto::Arm;
  const Moderated m =
      GENERATE(Moderated{0, 1, {80}, {{150, {Next, 1, 0}}}, {251}, None},
               Moderated{2, 1, {80, 90}, {{150, {Next, 1, 0}}}, {151}, None},
               Moderated{2, 1, {80, 90}, {{150, {Next, 1, 1}}}, {251}, None},
               Moderated{0, 1, {80}, {{150, {Next, 1, 1}}}, {}, None},
               Moderated{0, 1, {80, 170}, {{150, {None, 1, 1}}}, {272}},  // the first is taken
               Moderated{0, 1, {80, 90}, {{150, {None, 1, 1}}}, {182}},   // the second is not
               Moderated{0, 1, {80}, {{150, {Next, 1, 0}}}, {182}},       // it is armed already
               Moderated{0, 1, {80}, {{150, {Next, 1, 0}}, {300, {Next, 1, 0}}}, {251, 401}, None});
  CAPTURE(m.count, m.period, m.in_memory.size(), m.bells[0].second.consumer);
  CHECK(events_of(m) == m.wanted);
}

TEST_CASE("what a CQ is armed for as solicited is not moderated", "[completion][G21.2]") {
  using enum proto::Arm;
  CHECK(events_of({2, 1, {80}, {}, {}, Solicited, true}) == Cycles{82});
  CHECK(events_of({2, 1, {80, 90, 95}, {}, {}, Solicited, false}).empty());
  // Armed for any: it counts as the others.
  CHECK(events_of({2, 1, {80}, {}, {}, Next, true}) == Cycles{182});
  CHECK(events_of({2, 1, {80}, {{150, {Next, 1, 0}}}, {}, Solicited, false}) == Cycles{251});
}

// SQ_DRAINED, raised in 151, is in the way until it is taken in 500; the period ends in 181.
TEST_CASE("the end of a period waits for room in front of event", "[completion][G21.2]") {
  CompletionBench bench({}, {10, 150}, {}, 8, 0, true, {}, false, 1, 500);
  bench.contexts.cqs[1].event_period = 1;
  bench.plan({{80, [&] { bench.in_memory(0); }}});
  bench.seen();
  CHECK(bench.events->seen == Cycles{500, 502});
}

// By a command in 119, of which `completion` hears in 120.
TEST_CASE("a CQ whose moderation changes has its event at once or begins anew",
          "[completion][G21.2]") {
  struct Case {
    u16 count, period;
    Cycles wanted;
  };
  const Case c = GENERATE(Case{0, 0, {121}}, Case{1, 0, {121}}, Case{2, 0, {}},
                          Case{0, 2, {120 + 200 + 1}}, Case{2, 1, {120 + 100 + 1}});
  CAPTURE(c.count, c.period);
  CompletionBench bench({}, {10});
  device::EventRing& cq = bench.contexts.cqs[1];
  cq.event_count = 3, cq.event_period = 1;
  bench.plan({{80, [&] { bench.in_memory(0); }}, {119, [&] {
                                                    cq.event_count = c.count,
                                                    cq.event_period = c.period, cq.event_due = 0;
                                                    bench.completion.changed_in.push(1);
                                                  }}});
  bench.seen();
  CHECK(bench.events->seen == c.wanted);
  CHECK(bench.completion.next_timer() == kNever);
}

TEST_CASE("the period of a CQ that is gone ends nothing", "[completion][G21.2]") {
  CompletionBench bench({}, {10});
  device::EventRing& cq = bench.contexts.cqs[1];
  cq.event_period = 1;
  bench.plan({{80, [&] { bench.in_memory(0); }},
              {119,
               [&] {
                 CHECK(bench.completion.next_timer() == 181);
                 cq = {};
                 bench.completion.changed_in.push(1);
               }},
              {121, [&] { CHECK(bench.completion.next_timer() == kNever); }}});
  bench.seen();
  CHECK(bench.events->seen.empty());
}

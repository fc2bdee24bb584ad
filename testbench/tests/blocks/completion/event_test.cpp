// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/completion/event.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct EventBench : Bench {
  EventBench(const EventConfig& c, const Cycles& completions, const Cycles& faults = {},
             unsigned depth = 8, Cycle from = 0, u32 eqn = 1, const Cycles& bells = {})
      : config(c), event(config, contexts) {
    PairConfig two;
    two.armed = true;
    set_up(contexts, two, false);
    add(event, "event");
    feed(event.events_in[0], event, plan_of(completions, eqn));
    feed(event.events_in[1], event, plan_of(faults, eqn));
    Plan<proto::EqDoorbell> arms;
    for (const Cycle at : bells) arms.push_back({at, {true, 1, 0}});
    feed(event.bells_in, event, arms);
    contexts.vectors[0] = {kEqs + 0x8000, 1, false};
    event.buffers.connect(event.self, "EQE buffers");
    event.dma = event.self;
    writes = &take(event.outputs.dma_out, event, depth, from);
  }
  static Plan<EventNote> plan_of(const Cycles& cycles, u32 eqn) {
    Plan<EventNote> plan;
    for (const Cycle at : cycles) plan.push_back({at, {eqn, {proto::EventType::Completion, 1}}});
    return plan;
  }
  Cycles seen() {
    domain.run_until(500);
    return writes->seen;
  }
  EventConfig config;
  device::Contexts contexts;
  blocks::Event event;
  Taker<DmaRequest, 8>* writes = nullptr;
};
}  // namespace

TEST_CASE("an event asks for its write after the latency, the next one an interval later",
          "[event]") {
  const EventConfig config{.latency = 2, .interval = 5};
  CHECK(EventBench(config, {10}, {14}).seen() == Cycles{12, 15 + 2});  // blocked in 14
  CHECK(EventBench(config, {10}, {15}).seen() == Cycles{12, 15 + 2});  // ready in 15
  CHECK(EventBench(config, {10}, {16}).seen() == Cycles{12, 16 + 2});
}

TEST_CASE("an event waits for room in front of dma", "[event]") {
  CHECK(EventBench({.latency = 2, .interval = 1}, {10, 11}, {}, 1, 50).seen() ==
        Cycles{50, 51 + 2});
}

TEST_CASE("without an EQE buffer an event is blocked at n - 1 and ready at n", "[event]") {
  EventBench bench({.latency = 2, .interval = 1}, Cycles(blocks::Event::kBuffers + 1, 10));
  bench.plan({{99, [&] {
                 const DmaCallbacks client = bench.event.client();
                 client.released(client.self, bench.writes->items.at(0));
               }}});
  Cycles wanted;
  for (Cycle i = 0; i < blocks::Event::kBuffers; ++i) wanted.push_back(10 + i + 2);
  wanted.push_back(100 + 2);
  CHECK(bench.seen() == wanted);
}

TEST_CASE("an event without an event queue is counted and takes its turn", "[event]") {
  EventBench bench({}, {10}, {}, 8, 0, 3);
  CHECK(bench.seen().empty());
  CHECK(bench.event.counters.lost == 1);
}

// Armed in 9. The EQE of 10 is seen in 12 and its message in 13; the second EQE, there since 11,
// waits for that. Armed again in 20 with two EQEs not taken: the message asks in 20 + latency.
TEST_CASE("an armed queue's message follows its EQE by one cycle, its doorbell by the latency",
          "[event][G30.4]") {
  EventBench bench({.latency = 2, .interval = 1}, {10, 11}, {}, 8, 0, 1, {9, 20});
  CHECK(bench.seen() == Cycles{12, 13, 14, 20 + 2});
  REQUIRE(bench.writes->items.size() == 4);
  const Cycles sizes{bench.writes->items[0].bytes, bench.writes->items[1].bytes,
                     bench.writes->items[2].bytes, bench.writes->items[3].bytes};
  CHECK(sizes == Cycles{16, 4, 16, 4});
  CHECK(bench.writes->items[1].address == kEqs + 0x8000);
  CHECK(bench.event.counters.messages == 2);
}

TEST_CASE("of two events in one cycle the second follows an interval later", "[event]") {
  CHECK(EventBench({.latency = 2, .interval = 1}, {10}, {10}).seen() == Cycles{12, 13});
  CHECK(EventBench({.latency = 2, .interval = 5}, {10}, {10}).seen() == Cycles{12, 17});
}

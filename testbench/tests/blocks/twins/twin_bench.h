// SPDX-License-Identifier: Apache-2.0
// A unit between links and the corresponding block of the chip get the same random items, bursts
// and stalls.
#pragma once
#include <catch2/catch.hpp>
#include <deque>
#include <functional>

#include "model/engine/random.h"
#include "testbench/tests/blocks/bench.h"

namespace hca::test {
inline constexpr unsigned kTwinRuns = 40;  // of each test, each with a seed of its own

// Cycles in which items come: bursts, one a cycle, and pauses of less than `pause` cycles.
inline Cycles random_arrivals(engine::Random& random, unsigned items, Cycle pause) {
  Cycles at;
  Cycle next = 10;
  while (at.size() < items) {
    next += random.chance(1, 4) ? 1 + random.below(pause) : 1;
    at.push_back(next);
  }
  return at;
}
// Cycles that an item waits for its receiver: mostly none, at times many.
inline Cycles random_waits(engine::Random& random, unsigned items) {
  Cycles waits;
  while (waits.size() < items) {
    const bool stalls = random.chance(1, 6);
    waits.push_back(stalls ? random.below(40) : random.below(2));
  }
  return waits;
}

// Takes item i `waits[i]` cycles after its arrival, which is `way` cycles after it left.
template <class T, unsigned N>
class StallingTaker : public engine::Block {
 public:
  StallingTaker(unsigned depth, Cycles waits, Cycle way = 0)
      : in(depth), waits_(std::move(waits)), way_(way) {}
  void tick() {
    if (!in.can_pop()) return;
    const std::size_t i = left.size();
    const Cycle wait = i < waits_.size() ? waits_[i] : 0;
    const Cycle at = std::max(in.front_from() + way_, next_) + wait;
    if (now() < at) return wake_at(at);
    next_ = now() + 1;
    left.push_back(in.front_from());
    items.push_back(in.pop());
    if (takes) takes(items.back());
  }
  LinkOf<T, N> in;
  Cycles left;  // when each arrived at the receiver
  std::vector<T> items;
  std::function<void(const T&)> takes;

 private:
  Cycles waits_;
  Cycle way_, next_ = 0;
};

// A unit alone, with the events of its probe.
template <class Unit, class Item>
struct UnitRun : Bench, engine::ProbeSink {
  using Kind = typename Unit::Kind;
  UnitRun(const typename Unit::Config& config, const Plan<Item>& plan, unsigned depth,
          const Cycles& waits, Cycle way = 0)
      : taker(depth, waits, way), unit(config, {&in, &taker.in}, probe_of(hub)) {
    hub.attach(*this);
    add(unit, "unit"), add(taker, "taker");
    feed(in, unit, plan);
    taker.in.connect(unit.self, taker.self, "left");
    domain.run_until(1'000'000);
    REQUIRE(taker.items.size() == plan.size());
    REQUIRE(domain.asleep());
  }
  static engine::Probe probe_of(engine::ProbeHub& hub) { return hub.add("unit", Unit::kKinds); }
  void event(const engine::Event& e) override { events[e.kind].push_back(e.at); }
  const Cycles& leaves() const { return taker.left; }

  std::map<u16, Cycles> events;  // by kind of event
  engine::ProbeHub hub;
  typename Unit::PacketLink in;
  StallingTaker<Item, 8> taker;
  Unit unit;
};
// Of a LookUpUnit: when the context of each item is answered.
template <class Run, class Item>
Cycles context_answers(Run& run, const Plan<Item>& plan) {
  Cycles answers = run.events[u16(Run::Kind::AsksContext)];  // the cycles of the requests
  Cycle free = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    answers[i] = std::max(answers[i] + 1 + plan[i].second.context_late, free);
    free = answers[i] + 1;
  }
  return answers;
}
// Latency and interval in cycles, the same for a block of the chip and its unit: as shipped for an
// odd seed, otherwise random.
template <class BlockConfig, class UnitConfig>
struct TwinTimes {
  TwinTimes(u64 seed, Cycle most_latency) : random(seed) {
    if (seed % 2) return;
    block.latency = 1 + random.below(most_latency);
    block.interval = 1 + random.below(3);
    unit.latency = block.latency;
    unit.interval = block.interval;
  }
  engine::Random random;
  BlockConfig block;
  UnitConfig unit;
};
}  // namespace hca::test

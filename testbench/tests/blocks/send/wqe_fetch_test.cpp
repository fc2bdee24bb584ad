// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/wqe_fetch.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct FetchBench : Bench {
  // Turns of queue pair 1, seen in these cycles, and flushed ones of a queue pair each.
  FetchBench(const WqeFetchConfig& c, const Cycles& turns, unsigned depth = 8, Cycle from = 0,
             const Plan<u32>& flushed = {})
      : config(c), fetch(config, contexts) {
    set_up(contexts, 2);
    add(fetch, "wqe_fetch");
    Plan<Turn*> plan;
    for (const Cycle at : turns) {
      Turn* t = pool.take();
      t->qpn = 1, t->count = 2;
      plan.push_back({at, t});
    }
    for (const auto& [at, qpn] : flushed) {
      Turn* t = pool.take();
      t->qpn = qpn, t->flush = true;
      plan.push_back({at, t});
    }
    for (const auto& [at, turn] : plan) fed.push_back(turn);
    feed(fetch.turns_in, fetch, plan);
    requests = &take(fetch.outputs.dma_out, fetch, depth, from);
    not_read = &take(fetch.not_read_out, fetch);
  }
  Cycles seen() {
    domain.run_until(200);
    return requests->seen;
  }
  WqeFetchConfig config;
  device::Contexts contexts;
  Pool<Turn> pool;
  std::vector<Turn*> fed;
  WqeFetch fetch;
  Taker<DmaRequest, 8>* requests = nullptr;
  Taker<Turn*, kMostTurns>* not_read = nullptr;
};
}  // namespace

TEST_CASE("a turn asks for its WQEs after the latency, the next one an interval later",
          "[wqe_fetch]") {
  const WqeFetchConfig config{.latency = 2, .interval = 5};
  CHECK(FetchBench(config, {10, 14}).seen() == Cycles{10 + 2, 15 + 2});  // blocked in 14
  CHECK(FetchBench(config, {10, 15}).seen() == Cycles{10 + 2, 15 + 2});  // ready in 15
  CHECK(FetchBench(config, {10, 16}).seen() == Cycles{10 + 2, 16 + 2});
  FetchBench bench(config, {10});
  bench.seen();
  CHECK(bench.requests->items[0].bytes == 2 * 128);
}

TEST_CASE("a turn waits for room in front of dma", "[wqe_fetch]") {
  CHECK(FetchBench({.latency = 2, .interval = 1}, {10, 11}, 1, 50).seen() == Cycles{50, 51 + 2});
}

TEST_CASE("WQEs reach the requester with the last of their data", "[wqe_fetch]") {
  FetchBench bench({}, {});
  ReadOrder order{.under_way = 2};
  const auto done = [&](Cycle first, Cycle last) {
    Turn* t = bench.pool.take();
    t->order = &order;
    bench.fetch.client().done(&bench.fetch, {.context = t}, first, last);
  };
  bench.plan({{20, [&] { done(30, 33); }}, {21, [&] { done(21, 21); }}});
  auto& turns = bench.take(bench.fetch.turns_out, bench.fetch);
  bench.fetch.dma = bench.fetch.self;
  bench.domain.run_until(100);
  CHECK(turns.seen ==
        Cycles{33, 34});  // in order: the second is there with the first, and taken one cycle later
}

// A turn without a read, here a flushed one. That of queue pair 2 passes the read of queue pair 1;
// one of queue pair 1 does not, until the read is seen in 41.
TEST_CASE("a turn without a read passes the reads of other queue pairs", "[wqe_fetch][order]") {
  for (const Cycle last : {Cycle{40}, Cycle{41}}) {
    FetchBench bench({.latency = 2, .interval = 1}, {10}, 8, 0, {{11, 2}, {12, 1}, {last, 1}});
    auto& turns = bench.take(bench.fetch.turns_out, bench.fetch);
    bench.fetch.dma = bench.fetch.self;
    const auto done = [&](std::size_t i) {
      const DmaRequest r = bench.requests->items.at(i);
      bench.fetch.client().done(&bench.fetch, r, 41, 41);
    };
    bench.plan({{30, [&] { done(0); }}, {31, [&] { done(1); }}});
    const bool passes = last == 41;
    CHECK(bench.seen() == (passes ? Cycles{10 + 2, 12 + 2} : Cycles{10 + 2, 12 + 2, 40 + 2}));
    CHECK(turns.seen == Cycles{41, 42});
    CHECK(bench.not_read->seen == (passes ? Cycles{11 + 4, 41 + 4} : Cycles{11 + 4}));
  }
}

// Slots of 128 bytes; the second push is of all 256.
TEST_CASE("pushed WQEs stand where those that are read do", "[wqe_fetch][push]") {
  FetchBench bench({.latency = 2, .interval = 1}, {10});
  Pool<PushedWqe> pushes;
  Turn* t = bench.fed.at(0);
  t->pushed = pushes.take(), t->pushed->next = pushes.take();
  t->pushed->bytes = 128, t->pushed->wqe.fill(1);
  t->pushed->next->bytes = 256, t->pushed->next->wqe.fill(2);
  bench.seen();
  CHECK(bench.requests->seen.empty());
  CHECK(bench.not_read->seen == Cycles{10 + 4});
  CHECK((t->wqes[0] == 1 && t->wqes[127] == 1 && t->wqes[128] == 2 && t->wqes[255] == 2));
  CHECK(t->wqes[256] == 0);
  CHECK((t->pushed == nullptr && bench.fetch.counters.pushed == 2));
}

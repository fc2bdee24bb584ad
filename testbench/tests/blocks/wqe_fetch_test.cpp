// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/wqe_fetch.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct FetchBench : Bench {
  FetchBench(const WqeFetchConfig& c, const Cycles& turns, unsigned depth = 8, Cycle from = 0)
      : config(c), fetch(config, contexts) {
    set_up(contexts, 1);
    add(fetch, "wqe_fetch");
    Plan<Turn*> plan;
    for (const Cycle at : turns) {
      Turn* t = pool.take();
      t->qpn = 1, t->count = 2;
      plan.push_back({at, t});
    }
    feed(fetch.turns_in, fetch, plan);
    requests = &take(fetch.ports.dma_out, fetch, depth, from);
  }
  Cycles seen() {
    domain.run_until(200);
    return requests->seen;
  }
  WqeFetchConfig config;
  Contexts contexts;
  Pool<Turn> pool;
  WqeFetch fetch;
  Taker<DmaRequest, 8>* requests = nullptr;
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
  bench.plan(
      {{20,
        [&] { bench.fetch.client().done(&bench.fetch, {.context = bench.pool.take()}, 30, 33); }},
       {21,
        [&] { bench.fetch.client().done(&bench.fetch, {.context = bench.pool.take()}, 21, 21); }}});
  auto& turns = bench.take(bench.fetch.turns_out, bench.fetch);
  bench.fetch.dma = bench.fetch.self;
  bench.domain.run_until(100);
  CHECK(turns.seen ==
        Cycles{33, 34});  // in order: the second is there with the first, and taken one cycle later
}

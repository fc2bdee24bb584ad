// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/context_cache.h"

#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;
using proto::ContextKind;

namespace {
constexpr u64 kMemory = 1 << 20;
constexpr Cycle kRead = 40;  // from a request that memory sees to its data

// A cache of queue pairs with one client. Each DMA request reaches memory in the cycle in which it
// is seen; the data of a read are there kRead later.
struct CacheBench : Bench {
  CacheBench(u32 entries, u32 ways, u32 misses, const std::vector<u64>& numbers)
      : cache(configs(entries, ways, misses), 21, contexts) {
    set_up(contexts, 8);
    contexts.context_memory = kMemory;
    add(cache, "context_cache");
    cache.connect_misses();
    cache.arrived_in.connect(cache.self, cache.self, "arrived");
    cache.dma = cache.self;
    ContextCache::Client& client = cache.clients.emplace_back();
    Plan<ContextAsk> plan;
    for (u32 i = 0; i < numbers.size(); ++i)
      plan.push_back({10 + i, {ContextKind::Qp, numbers[i], i}});
    feed(client.asks_in, cache, plan);
    answers = &take(client.answers_out, cache);
    add(memory, "memory");
    memory.bench = this;
    memory.in.connect(cache.self, memory.self, "DMA");
    cache.ports.dma_out = &memory.in;
  }
  static CacheConfigs configs(u32 entries, u32 ways, u32 misses) {
    CacheConfigs c;
    c.qp.entries = entries, c.qp.ways = ways, c.qp.misses = misses;
    return c;
  }
  const CacheCounters& counters() {
    domain.run_until(2000);
    return cache.counters(ContextKind::Qp);
  }
  struct Memory : engine::Block {
    DmaLink in{8};
    CacheBench* bench = nullptr;
    std::map<u64, std::vector<u8>> written;
    std::vector<std::pair<Cycle, u64>> reads, writes;  // cycle, address
    void tick() {
      if (!in.can_pop()) return;
      const DmaRequest r = in.pop();
      const Dma::Client client = bench->cache.client();
      auto& bytes = written[r.address];
      bytes.resize(r.bytes);
      (r.write ? writes : reads).push_back({now(), r.address});
      if (r.write) {
        bytes.assign(r.buffer, r.buffer + r.bytes);
        client.released(client.self, r);
        return;
      }
      std::copy(bytes.begin(), bytes.end(), r.buffer);
      client.done(client.self, r, now() + kRead, now() + kRead);
    }
  };
  Contexts contexts;
  ContextCache cache;
  Memory memory;
  Taker<u32, 8>* answers = nullptr;
};
u64 entry(u64 qpn) { return kMemory + 256 * qpn; }
}  // namespace

TEST_CASE("a miss is answered behind its entry, a hit in the next cycle", "[context_cache]") {
  CacheBench bench(4, 4, 4, {1, 1, 1});
  CHECK(bench.counters().misses == 1);
  // Asked in 10, memory sees it in 11, the data are there in 11 + 40, the answer one behind; the
  // second look-up, in 11, waits for the same entry, and its answer is the next; so is the third.
  CHECK(bench.memory.reads == std::vector<std::pair<Cycle, u64>>{{11, entry(1)}});
  CHECK(bench.answers->seen == Cycles{52, 53, 54});
  CHECK(bench.counters().joined == 2);
  CHECK(bench.counters().miss_cycles == 41);

  CacheBench later(4, 4, 4, {1});
  later.plan({{100, [&] {
                 later.cache.clients[0].asks_in.push(ContextAsk{ContextKind::Qp, 1, 7});
               }}});
  // Pushed in 100, seen in 101, answered in 102.
  CHECK(later.counters().hits == 1);
  CHECK(later.answers->seen == Cycles{52, 102});
  CHECK(later.answers->items == std::vector<u32>{0, 7});
}

TEST_CASE("misses are under way together, as many as there may be", "[context_cache]") {
  CacheBench four(8, 8, 4, {1, 2, 3, 4});
  four.counters();
  CHECK(four.answers->seen == Cycles{52, 53, 54, 55});
  CHECK(four.counters().waits == 0);
  // One at a time: the next begins in the cycle behind the end of the one before, 51 + 1, and takes
  // 1 + 40 + 1 cycles as it did.
  CacheBench one(8, 8, 1, {1, 2, 3});
  one.counters();
  CHECK(one.answers->seen == Cycles{52, 52 + 42, 52 + 84});
  CHECK(one.counters().waits == 2);
}

TEST_CASE("a changed entry goes back before another takes its place, an unchanged one does not",
          "[context_cache]") {
  CacheBench bench(1, 1, 1, {1, 2, 1});
  // The image of queue pair 1 is not the zeros that memory begins with; so is that of 2.
  CHECK(bench.counters().write_backs == 2);
  CHECK(bench.memory.writes.size() == 2);
  CHECK(bench.memory.writes[0].second == entry(1));
  CHECK(bench.memory.writes[0].first < bench.memory.reads[1].first);
  CHECK(bench.counters().damaged == 0);
  // The state of a queue pair: QPN behind state, service and port.
  const std::vector<u8>& image = bench.memory.written[entry(1)];
  CHECK(image[0] == 1);
  CHECK(std::vector<u8>(image.begin() + 4, image.begin() + 8) == std::vector<u8>{0, 0, 0, 1});
  // 1 and 2 are in memory as they are: now they only come.
  CacheBench again(1, 1, 1, {1, 2, 1, 2, 1, 2});
  CHECK(again.counters().misses == 6);
  CHECK(again.counters().write_backs == 2);
  // 1 changes meanwhile.
  CacheBench changes(1, 1, 1, {1, 2, 1, 2, 1, 2});
  changes.plan({{100, [&] { ++changes.contexts.send[1].next_psn; }}});
  CHECK(changes.counters().write_backs == 3);
}

TEST_CASE("an entry that comes back other than it went is counted", "[context_cache]") {
  CacheBench bench(1, 1, 1, {1, 2, 1});
  bench.plan({{60, [&] { bench.memory.written[entry(1)][9] ^= 1; }}});
  CHECK(bench.counters().damaged == 1);
  CHECK(bench.answers->seen.size() == 3);  // the chip goes on with its own
}

TEST_CASE("a look-up without room holds up its client and no other", "[context_cache]") {
  CacheBench bench(8, 8, 1, {1, 2});
  ContextCache::Client& second = bench.cache.clients.emplace_back();
  // An entry that is on its way already; it is the turn of the first client when the second of
  // these comes.
  bench.feed(second.asks_in, bench.cache,
             {{11, {ContextKind::Qp, 1, 5}}, {12, {ContextKind::Qp, 1, 6}}});
  auto& others = bench.take(second.answers_out, bench.cache);
  CHECK(bench.counters().joined == 2);
  CHECK(bench.counters().hits == 0);
  CHECK(others.seen == Cycles{52, 53});
  CHECK(bench.answers->seen == Cycles{52, 94});
}

TEST_CASE("clients take turns for a miss", "[context_cache]") {
  CacheBench bench(8, 8, 1, {1, 2, 3});
  ContextCache::Client& second = bench.cache.clients.emplace_back();
  bench.feed(second.asks_in, bench.cache,
             {{10, {ContextKind::Qp, 4, 0}},
              {11, {ContextKind::Qp, 5, 1}},
              {12, {ContextKind::Qp, 6, 2}}});
  bench.take(second.answers_out, bench.cache);
  bench.counters();
  std::vector<u64> order;
  for (const auto& [at, address] : bench.memory.reads) order.push_back(address);
  CHECK(order == std::vector<u64>{entry(1), entry(4), entry(2), entry(5), entry(3), entry(6)});
}

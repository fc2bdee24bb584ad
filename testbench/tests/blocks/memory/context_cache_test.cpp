// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/context_cache.h"

#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;
using proto::ContextKind;

namespace {
constexpr u64 kMemory = 1 << 20;
constexpr Cycle kReadCycles = 40;  // from a request that memory sees to its data

// A cache of queue pairs with one client. Each DMA request reaches memory in the cycle in which it
// is seen, or in `from`; the data of a read are there kReadCycles later.
struct CacheBench : Bench {
  CacheBench(u32 entries, u32 ways, u32 misses, const std::vector<u64>& numbers)
      : CacheBench(configs(entries, ways, misses), asks_of(numbers)) {}
  CacheBench(const CacheConfigs& configs, const Plan<ContextAsk>& plan, unsigned depth = 8,
             Cycle first_answer = 0)
      : cache(configs, 21, contexts) {
    set_up(contexts, 8);
    contexts.context_memory = kMemory;
    add(cache, "context_cache");
    cache.connect_misses();
    cache.arrived_in.connect(cache.self, cache.self, "arrived");
    cache.dma = cache.self;
    ContextCache::Client& client = cache.clients.emplace_back();
    feed(client.asks_in, cache, plan);
    answers = &take(client.answers_out, cache, depth, first_answer, "contexts found");
    add(memory, "memory");
    memory.bench = this;
    memory.in.connect(cache.self, memory.self, "context DMA");
    cache.outputs.dma_out = &memory.in;
  }
  static CacheConfigs configs(u32 entries, u32 ways, u32 misses) {
    CacheConfigs c;
    c.qp.entries = entries, c.qp.ways = ways, c.qp.misses = misses;
    return c;
  }
  static Plan<ContextAsk> asks_of(const std::vector<u64>& numbers) {
    Plan<ContextAsk> plan;
    for (u32 i = 0; i < numbers.size(); ++i)
      plan.push_back({10 + i, {ContextKind::Qp, numbers[i], i}});
    return plan;
  }
  const CacheCounters& counters(ContextKind kind = ContextKind::Qp) {
    domain.run_until(2000);
    return cache.counters(kind);
  }
  struct Memory : engine::Block {
    DmaLink in{2};
    CacheBench* bench = nullptr;
    Cycle from = 0;
    std::map<u64, std::vector<u8>> written;
    std::vector<std::pair<Cycle, u64>> reads, writes;  // cycle, address
    void tick() {
      if (!in.can_pop()) return;
      if (now() < from) return wake_at(from);
      const DmaRequest r = in.pop();
      const DmaCallbacks client = bench->cache.client();
      auto& bytes = written[r.address];
      bytes.resize(r.bytes);
      (r.write ? writes : reads).push_back({now(), r.address});
      if (r.write) {
        bytes.assign(r.buffer, r.buffer + r.bytes);
        client.released(client.self, r);
        return;
      }
      std::copy(bytes.begin(), bytes.end(), r.buffer);
      client.done(client.self, r, now() + kReadCycles, now() + kReadCycles);
    }
  };
  device::Contexts contexts;
  ContextCache cache;
  Memory memory;
  Taker<u32, 8>* answers = nullptr;
};
u64 entry(u64 qpn) { return kMemory + 256 * qpn; }
}  // namespace

TEST_CASE("a miss is answered behind its entry, a hit in the next cycle", "[context_cache]") {
  CacheBench bench(4, 4, 4, {1, 1, 1});
  CHECK(bench.counters().misses == 1);
  // Asked in 10, memory sees it in 11, the data are there in 11 + 40, the answer one later; the
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
  // One at a time: the next begins in the cycle after the end of the one before, 51 + 1, and takes
  // 1 + 40 + 1 cycles as it did.
  CacheBench one(8, 8, 1, {1, 2, 3});
  one.counters();
  CHECK(one.answers->seen == Cycles{52, 52 + 42, 52 + 84});
  CHECK(one.counters().waits == 2);
}

TEST_CASE("answers wait for room in front of who asked", "[context_cache]") {
  CacheBench bench(CacheBench::configs(4, 4, 4), CacheBench::asks_of({1, 2, 3}), 1, 100);
  bench.counters();
  CHECK(bench.answers->seen == Cycles{100, 102, 104});  // depth 1: room is seen a cycle after each
}

// Two have room before memory; in 61 the third has.
TEST_CASE("misses wait for room on their way to memory", "[context_cache]") {
  CacheBench bench(8, 8, 4, {1, 2, 3, 4});
  bench.memory.from = 60;
  bench.counters();
  CHECK(bench.memory.reads == std::vector<std::pair<Cycle, u64>>{
                                  {60, entry(1)}, {61, entry(2)}, {62, entry(3)}, {63, entry(4)}});
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
  // The state of a queue pair: QPN after state, service and port.
  const std::vector<u8>& image = bench.memory.written[entry(1)];
  CHECK(image[0] == 1);
  CHECK(std::vector<u8>(image.begin() + 4, image.begin() + 8) == std::vector<u8>{0, 0, 0, 1});
  // 1 and 2 are in memory as they are: now they only come.
  CacheBench again(1, 1, 1, {1, 2, 1, 2, 1, 2});
  CHECK(again.counters().misses == 6);
  CHECK(again.counters().write_backs == 2);
  // 1 changes meanwhile.
  CacheBench changes(1, 1, 1, {1, 2, 1, 2, 1, 2});
  changes.plan({{100, [&] { ++changes.contexts.send_of(1).next_psn; }}});
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

// Three clients ask for an entry that is there, in 100; their answers are seen in 101, if there is
// a port.
TEST_CASE("clients share the ports of a cache", "[context_cache]") {
  const auto seen_with = [](u32 ports, u64 put_off) {
    CacheConfigs configs = CacheBench::configs(8, 8, 8);
    configs.qp.ports = ports;
    CacheBench bench(configs, {{10, {ContextKind::Qp, 1, 0}}, {100, {ContextKind::Qp, 1, 1}}});
    std::vector<Taker<u32, 8>*> others;
    for (u32 i = 0; i < 2; ++i) {
      ContextCache::Client& client = bench.cache.clients.emplace_back();
      bench.feed(client.asks_in, bench.cache, {{100, {ContextKind::Qp, 1, 2 + i}}});
      others.push_back(&bench.take(client.answers_out, bench.cache));
    }
    CHECK(bench.counters().put_off == put_off);
    std::vector<Cycle> seen{bench.answers->seen.at(1)};
    for (const auto* other : others) seen.push_back(other->seen.at(0));
    std::ranges::sort(seen);
    return seen;
  };
  CHECK(seen_with(3, 0) == Cycles{101, 101, 101});
  CHECK(seen_with(2, 1) == Cycles{101, 101, 102});
  CHECK(seen_with(1, 2 + 1) == Cycles{101, 102, 103});
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

namespace {
// WQEs of READs, one after another, of queue pair 1.
struct ReadTurn : Turn {
  ReadTurn() = default;
  ReadTurn(u32 from, u32 n) {
    qpn = 1, first = from, count = n;
    for (u32 i = 0; i < n; ++i) {
      proto::SendWqe wqe{};
      wqe.opcode = proto::WorkOpcode::RdmaRead, wqe.sge_count = 1, wqe.index = u16(from + i);
      proto::encode(wqe, at(i));
      proto::encode(proto::Sge{kData + from + i, kKey, 64}, at(i) + proto::kSendWqeBytes);
    }
  }
  u8* at(u32 i) { return wqes.data() + i * 128; }  // log stride 7 of set_up()
};
ContextAsk fill_of(Turn& turn) { return {ContextKind::Wqe, 0, 90, &turn, true}; }
ContextAsk repeat_of(Turn& turn) { return {ContextKind::Wqe, 0, 91, &turn, false}; }
ContextAsk response_of(u32 index) {
  return {ContextKind::Wqe, proto::wqe_number(1, index), index, nullptr, false};
}
struct WqeBench : CacheBench {
  WqeBench(u32 entries, const Plan<ContextAsk>& plan) : CacheBench(configs(entries), plan) {}
  static CacheConfigs configs(u32 entries) {
    CacheConfigs c;
    c.wqe.entries = entries;
    return c;
  }
  // The host's send queue holds the WQEs of the turn.
  void post(ReadTurn& turn) {
    for (u32 i = 0; i < turn.count; ++i)
      memory.written[slot(turn.first + i)].assign(turn.at(i), turn.at(i) + 128);
  }
  u64 slot(u32 index) const { return contexts.qps[1].sq.slot(index); }
  u64 count(std::string_view name) {
    counters(ContextKind::Wqe);
    u64 value = ~u64{0};
    cache.for_each_counters([&]<class C>(const C& c) {
      engine::for_each_counter(c, [&](const auto& row, u64 v) {
        if (row.name == name) value = v;
      });
    });
    return value;
  }
};
}  // namespace

// The fill of three in 10 is answered in 11. Two have room: 1 and 2. A look-up in 20 finds 1 and
// makes 2 the oldest, which goes for 3, filled in 30. So 2 is read when its response comes: asked
// in 40, seen by memory in 41, there in 81, answered in 82.
TEST_CASE("the WQE of a READ is here when its response comes, or is read again",
          "[context_cache]") {
  ReadTurn first(0, 3), second(3, 1);
  WqeBench bench(2, {{10, fill_of(first)},
                     {20, response_of(1)},
                     {30, fill_of(second)},
                     {40, response_of(2)},
                     {100, response_of(2)}});
  bench.post(first);
  CHECK(bench.count("fills") == 4);
  CHECK(bench.answers->seen == Cycles{11, 21, 31, 82, 101});
  CHECK(bench.memory.reads == std::vector<std::pair<Cycle, u64>>{{41, bench.slot(2)}});
  CHECK(bench.memory.writes.empty());
  CHECK((bench.count("hits") == 2 && bench.count("misses") == 1 && bench.count("damaged") == 0));
}

TEST_CASE("a WQE that the host changes too early is counted", "[context_cache]") {
  ReadTurn first(0, 3);
  WqeBench bench(2, {{10, fill_of(first)}, {40, response_of(0)}});
  bench.post(first);
  bench.contexts.send_of(1).started = 3;
  bench.memory.written[bench.slot(0)][40] ^= 1;  // in its SGE
  CHECK((bench.count("misses") == 1 && bench.count("damaged") == 1));
  WqeBench behind(2, {{10, fill_of(first)}, {40, response_of(0)}});
  behind.post(first);
  behind.contexts.send_of(1).started = 3;
  behind.memory.written[behind.slot(0)][100] ^= 1;  // after its SGE
  CHECK((behind.count("misses") == 1 && behind.count("damaged") == 0));
  // The work request is done: the slot is the host's again.
  WqeBench done(2, {{10, fill_of(first)}, {40, response_of(0)}});
  done.post(first);
  done.contexts.send_of(1).started = 3, done.contexts.send_of(1).completed = 1;
  done.memory.written[done.slot(0)][40] ^= 1;
  CHECK((done.count("misses") == 1 && done.count("damaged") == 0));
}

TEST_CASE("WQEs that are sent again are taken from the cache, all of a turn or none",
          "[context_cache]") {
  ReadTurn first(0, 2), third(2, 1), again, gone;
  again.first = gone.first = 0, again.count = gone.count = 2, again.qpn = gone.qpn = 1;
  WqeBench bench(
      2,
      {{10, fill_of(first)}, {20, repeat_of(again)}, {30, fill_of(third)}, {40, repeat_of(gone)}});
  CHECK(bench.count("repeats") == 2);
  CHECK((again.cached && !gone.cached));
  CHECK(std::equal(first.wqes.begin(), first.wqes.begin() + 256, again.wqes.begin()));
  CHECK(bench.memory.reads.empty());
}

// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/memory/dma.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
// A request leaves each 7 cycles; 30 cycles to memory, 30 back.
struct SlowHost : HostTiming {
  ReadTiming read(Cycle at, u64, u32) override { return {at + 7, at + 30, at + 60, at + 60}; }
  WriteTiming write(Cycle, Cycle last_in, u64, u32) override { return {last_in + 7, last_in + 30}; }
};
struct Memory : Outside {
  bool read_memory(u64 address, std::span<u8>, u32, Cycle at) override {
    reads.push_back(at);
    return address != kUnreadable;
  }
  static constexpr u64 kUnreadable = 0x1000;
  bool write_memory(u64, std::span<const u8>, u32 bytes, Cycle at) override {
    writes.push_back(at), written.push_back(bytes);
    return true;
  }
  void transmit(Packet*, Cycle) override {}
  Cycles reads, writes;
  std::vector<u32> written;  // bytes
};
struct DmaBench : Bench {
  explicit DmaBench(const std::map<DmaClient, Plan<DmaRequest>>& plans) {
    add(dma, "dma");
    for (unsigned i = 0; i < kDmaClients; ++i) {
      const auto plan = plans.find(DmaClient(i));
      feed(dma.requests_in[i], dma, plan == plans.end() ? Plan<DmaRequest>{} : plan->second);
      dma.clients[i] = {this,
                        [](void* self, const DmaRequest& r, Cycle first, Cycle) {
                          auto& bench = *static_cast<DmaBench*>(self);
                          bench.done.push_back(first), bench.failed.push_back(r.failed);
                        },
                        nullptr, [](void*, const DmaRequest& r) -> const u8* { return r.buffer; }};
    }
    domain.run_until(300);
  }
  SlowHost host;
  Memory memory;
  Dma dma{host, memory, accesses};
  Cycles done;
  std::vector<bool> failed;
};
const DmaRequest kRead{.bytes = 64}, kWrite{.bytes = 64, .write = true}, kEmpty{};
}  // namespace

TEST_CASE("a read leaves when the link lets it, blocked at n - 1 and granted at n", "[dma]") {
  for (const Cycle at : {16, 17, 18}) {
    const DmaBench bench(
        {{DmaClient::WqeFetch, {{10, kRead}}}, {DmaClient::Packetizer, {{at, kRead}}}});
    CHECK(bench.memory.reads == Cycles{10 + 30, std::max<Cycle>(at, 17) + 30});
    CHECK(bench.done == Cycles{10 + 60, std::max<Cycle>(at, 17) + 60});
    CHECK(bench.dma.counters.waits_to_read == std::max<Cycle>(at, 17) - at);
    CHECK(bench.dma.counters.waits_to_write == 0);
  }
}

TEST_CASE("a write leaves when the link lets it, blocked at n - 1 and granted at n", "[dma]") {
  for (const Cycle at : {16, 17, 18}) {
    const DmaBench bench(
        {{DmaClient::Payload, {{10, kWrite}}}, {DmaClient::Event, {{at, kWrite}}}});
    CHECK(bench.memory.writes == Cycles{10 + 30, std::max<Cycle>(at, 17) + 30});
    CHECK(bench.dma.counters.waits_to_write == std::max<Cycle>(at, 17) - at);
    CHECK(bench.dma.counters.waits_to_read == 0);
  }
}

TEST_CASE("one request leaves a cycle, clients take turns", "[dma]") {
  // In 10 the write of the first client in the round; the read follows in 11, the second write when
  // the link lets it.
  const DmaBench bench(
      {{DmaClient::Command, {{10, kWrite}}}, {DmaClient::WqeFetch, {{10, kRead}}}});
  CHECK(bench.memory.writes == Cycles{10 + 30});
  CHECK(bench.memory.reads == Cycles{11 + 30});
  const DmaBench turns(
      {{DmaClient::WqeFetch, {{10, kRead}, {11, kRead}}}, {DmaClient::Packetizer, {{10, kRead}}}});
  CHECK(turns.memory.reads == Cycles{10 + 30, 17 + 30, 24 + 30});
  CHECK(turns.dma.counters.waits_to_read == 6 + 6);  // one or two, in 11 to 16 and in 18 to 23
}

// A write leaves each 7 cycles, and so does a read: 10, 17, 24 ... of each kind, the second kind
// one cycle later. Reads of a client with a later place than the writers do not change their turns.
TEST_CASE("clients that write take turns whatever is read", "[dma]") {
  DmaRequest large = kWrite;
  large.bytes = 1024;
  const Plan<DmaRequest> reads{{10, kRead}, {11, kRead}, {12, kRead}, {13, kRead}};
  const DmaBench bench({{DmaClient::WqeFetch, reads},
                        {DmaClient::Response, {{10, large}, {11, large}, {12, large}}},
                        {DmaClient::Completion, {{10, kWrite}, {11, kWrite}, {12, kWrite}}}});
  CHECK(bench.memory.writes == Cycles{40, 47, 54, 61, 68, 75});
  CHECK(bench.memory.written == std::vector<u32>{1024, 64, 1024, 64, 1024, 64});
  CHECK(bench.memory.reads == Cycles{41, 48, 55, 62});
}

TEST_CASE("reads and writes that may leave take turns", "[dma]") {
  DmaBench bench({{DmaClient::Command, {{9, kRead}}},
                  {DmaClient::WqeFetch, {{17, kRead}}},
                  {DmaClient::Packetizer, {{17, kRead}}},
                  {DmaClient::Payload, {{17, kWrite}}}});
  CHECK(bench.memory.reads == Cycles{39, 48, 55});
  CHECK(bench.memory.writes == Cycles{47});
  // Behind a write a read is first.
  DmaBench behind({{DmaClient::Command, {{9, kWrite}}},
                   {DmaClient::Packetizer, {{17, kRead}}},
                   {DmaClient::Payload, {{17, kWrite}}}});
  CHECK(behind.memory.reads == Cycles{47});
  CHECK(behind.memory.writes == Cycles{39, 48});
}

TEST_CASE("a read passes no earlier write, an empty one keeps its place", "[dma][G30.3]") {
  // The write reaches memory in 30 + 30, for its bytes are at hand in 30; the read of 11 would be
  // there in 41.
  DmaRequest late = kWrite;
  late.first_in = late.last_in = 30;
  const DmaBench bench(
      {{DmaClient::Payload, {{10, late}}}, {DmaClient::WqeFetch, {{11, kRead}, {12, kEmpty}}}});
  CHECK(bench.memory.writes == Cycles{60});
  CHECK(bench.memory.reads == Cycles{60});
  CHECK(bench.done ==
        Cycles{11 + 60 + 19, 11 + 60 + 19});  // 19 cycles late, and the empty one with it
}

// The value is read and replaced in the cycle in which the request is there.
TEST_CASE("an AtomicOp changes memory where it reads it", "[dma][ATOM-2]") {
  const DmaRequest add{.bytes = 8, .operands = 8};
  const DmaBench bench({{DmaClient::Atomic, {{10, add}}}, {DmaClient::Payload, {{11, kWrite}}}});
  CHECK(bench.memory.reads == Cycles{10 + 30});
  CHECK(bench.memory.writes == Cycles{10 + 30, 11 + 30});
  CHECK(bench.done == Cycles{10 + 60});
  CHECK(bench.dma.counters.atomics == 1);
  CHECK(bench.dma.counters.reads == 0);
  const DmaBench unreadable(
      {{DmaClient::Atomic, {{10, {.address = Memory::kUnreadable, .bytes = 8, .operands = 8}}}}});
  CHECK(unreadable.memory.writes.empty());
}

TEST_CASE("a read that memory answers with an error says so, the next one does not", "[dma]") {
  const DmaBench bench({{DmaClient::WqeFetch,
                         {{10, DmaRequest{.address = Memory::kUnreadable, .bytes = 64}},
                          {11, kRead},
                          {12, kEmpty}}}});
  CHECK(bench.failed == std::vector<bool>{true, false, false});
  CHECK(bench.dma.counters.failed_reads == 1);
}

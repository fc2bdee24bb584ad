// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/packetizer.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
struct PacketizerBench : Bench {
  explicit PacketizerBench(const PacketizerConfig& c) : config(c) {
    set_up(contexts, 1);
    driver.bench = this, add(driver, "driver");
    requests = &take(packetizer.dma_out, driver);
    released = &take(packetizer.ports[0].packets_out, driver);
    not_read = &take(packetizer.ports[0].not_read_out, driver);
    packetizer.ports[0].buffers.connect(driver.self, "packet buffers");
    packetizer.dma = driver.self;
  }
  // In cycle `now`, a packet of a queue pair that comes in at `at` with `sges` pieces of 64 bytes.
  void start(Cycle now, Cycle at, u32 sges, unsigned qp = 0) {
    for (u32 i = 0; i < sges; ++i)
      proto::encode(proto::Sge{kData, kKey, 64}, segments + i * proto::kSgeBytes);
    cursor = {segments, sges};
    Packet* p = pool.take();
    p->shape = proto::shape_of({}, *proto::opcode_row(0x0a), 64 * sges);  // RDMA WRITE Only
    packetizer.start(p, cursor, orders[qp], now, at);
  }
  // The payload of the packet that has asked as the `i`-th is back.
  void answer(std::size_t i, Cycle first, Cycle last) {
    const DmaRequest r = requests->items.at(i);
    packetizer.client().done(&packetizer, r, first, last);
  }
  Cycles asked(std::map<Cycle, std::function<void()>> what) {
    steps = std::move(what);
    domain.wake(driver.self.block, 1);
    domain.run_until(200);
    return requests->seen;
  }
  struct Driver : engine::Block {
    PacketizerBench* bench = nullptr;
    void tick() {
      for (auto& [at, what] : bench->steps) {
        if (at == now()) what();
        if (at > now()) wake_at(at);
      }
    }
  };
  PacketizerConfig config;
  device::Contexts contexts;
  Protection protection{{}, contexts};
  // 31.25 bytes a cycle.
  Packetizer packetizer{config, 400'000'000, protection, release(config.tx_start)};
  PacketPool pool;
  u8 segments[8 * proto::kSgeBytes] = {};
  GatherCursor cursor;
  ReadOrder orders[2];
  std::map<Cycle, std::function<void()>> steps;
  Driver driver;
  Taker<DmaRequest, 8>* requests = nullptr;
  Taker<Packet*, kMostPackets>*released = nullptr, *not_read = nullptr;
};
}  // namespace

TEST_CASE("a packet asks for its payload after the latency, one piece a cycle", "[packetizer]") {
  PacketizerBench bench({.latency = 4, .interval = 1});
  CHECK(bench.asked({{10, [&] { bench.start(10, 20, 3); }},
                     {11, [&] { CHECK_FALSE(bench.packetizer.gather(11)); }},
                     {12, [&] { CHECK(bench.packetizer.gather(12)); }}}) == Cycles{20 + 4, 25, 26});
}

TEST_CASE("a packet within the interval is blocked at n - 1 and enters at n", "[packetizer]") {
  for (const Cycle second : {Cycle{24}, Cycle{25}, Cycle{26}}) {
    PacketizerBench bench({.latency = 4, .interval = 5});
    CHECK(bench.asked(
              {{10, [&] { bench.start(10, 20, 1); }}, {11, [&] { bench.start(11, second, 1); }}}) ==
          Cycles{20 + 4, std::max<Cycle>(second, 25) + 4});
  }
}

TEST_CASE("without a packet buffer the packetizer takes nothing at n - 1 and a packet at n",
          "[packetizer]") {
  PacketizerBench bench({.buffers = 1});
  bench.asked({{10, [&] { bench.start(10, 20, 1); }},
               {11, [&] { CHECK_FALSE(bench.packetizer.can_start(0)); }},
               {20, [&] { bench.packetizer.ports[0].buffers.give(30); }},
               {29, [&] { CHECK_FALSE(bench.packetizer.can_start(0)); }},
               {30, [&] { CHECK(bench.packetizer.can_start(0)); }}});
}

// 256 bytes take 8.2, so 9 cycles on the wire: a packet whose last byte is in at 80 has no gap if
// it begins in 71.
TEST_CASE("a packet is released when it is in, or as early as no gap can open", "[packetizer]") {
  const auto released = [](TxStart tx_start, Cycle first, Cycle last) {
    PacketizerBench bench({.tx_start = tx_start});
    bench.asked({{10, [&] { bench.start(10, 20, 4); }},
                 {11, [&] { bench.packetizer.gather(11); }},
                 {12, [&] { bench.packetizer.gather(12); }},
                 {13, [&] { bench.packetizer.gather(13); }},
                 {40, [&] {
                    DmaRequest r = bench.requests->items.at(3);
                    bench.packetizer.client().done(&bench.packetizer, r, first, last);
                  }}});
    return bench.released->seen.at(0);
  };
  CHECK(released(TxStart::Full, 60, 80) == 80);
  CHECK(released(TxStart::Threshold, 60, 80) == 80 - 9);
  CHECK(released(TxStart::Threshold, 75, 80) == 75);  // not before the first byte
}

// Queue pair 0 reads from 20 + 4 on; 1 has nothing to read and is seen at 21 + 4 + 2.
TEST_CASE("a packet without a read passes the reads of another queue pair", "[packetizer][order]") {
  PacketizerBench bench({.latency = 4});
  CHECK(bench.asked({{10, [&] { bench.start(10, 20, 1, 0); }},
                     {11, [&] { bench.start(11, 21, 0, 1); }},
                     {60, [&] { bench.answer(0, 60, 80); }}}) == Cycles{20 + 4});
  CHECK(bench.not_read->seen == Cycles{21 + 4 + 2});
  CHECK(bench.released->seen == Cycles{80 - 3});  // 64 bytes are 3 cycles on the wire
}

// The read packet is seen in 77. A packet without payload that follows it requests an empty read
// when the first one is back, in 80. One that starts in 79 does so too, one that starts in 80
// passes.
TEST_CASE("a packet without a read passes none of its own queue pair", "[packetizer][order]") {
  for (const Cycle last : {Cycle{79}, Cycle{80}}) {
    PacketizerBench bench({.latency = 4});
    const Cycles asked = bench.asked({{10, [&] { bench.start(10, 20, 1); }},
                                      {11, [&] { bench.start(11, 21, 0); }},
                                      {60, [&] { bench.answer(0, 60, 80); }},
                                      {61, [&] { bench.answer(1, 80, 80); }},
                                      {last, [&] { bench.start(last, last + 10, 0); }}});
    CHECK(bench.released->seen == Cycles{77, 80});
    const bool passes = last == 80;
    CHECK(asked == (passes ? Cycles{24, 25} : Cycles{24, 25, 89 + 4}));
    CHECK(bench.not_read->seen == (passes ? Cycles{90 + 4 + 2} : Cycles{}));
  }
}

// At 100 Gb/s 31.25 bytes a cycle: 3072 bytes after the packet are 98.3, so 99 cycles after its
// last byte; the last packet of a unit waits only for its own bytes, also if it could begin
// earlier.
TEST_CASE("a packet waits for the bytes of its unit behind it", "[packetizer]") {
  const auto released = [](u32 unit, u32 behind) {
    PacketizerBench bench({.unit = unit});
    bench.asked({{10, [&] { bench.start(10, 20, 1); }},
                 {40, [&] {
                    DmaRequest r = bench.requests->items.at(0);
                    static_cast<Packet*>(r.context)->behind_in_unit = behind;
                    bench.packetizer.client().done(&bench.packetizer, r, 60, 80);
                  }}});
    bench.domain.run_until(400);
    return bench.released->seen.at(0);
  };
  CHECK(released(4096, 3072) == 80 + 99);
  CHECK(released(4096, 0) == 80);
  CHECK(released(0, 3072) == 80 - 3);  // 64 bytes take 2.05 cycles on the wire
}

TEST_CASE("a unit ends with its message", "[packetizer]") {
  PacketizerBench bench({.unit = 4096});
  const auto behind = [&](u32 offset, u32 bytes) {
    return bench.packetizer.behind_in_unit(offset, bytes);
  };
  CHECK((behind(1024, 10000) == 3072 && behind(3072, 10000) == 1024));
  CHECK((behind(4096, 10000) == 0 && behind(5120, 10000) == 3072));
  CHECK((behind(9216, 10000) == 784 && behind(10240, 10000) == 0));
  CHECK((behind(1024, 1000) == 0 && behind(1024, 1024) == 0));
}

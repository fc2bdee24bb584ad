// SPDX-License-Identifier: Apache-2.0
// What shares the line downstream: completions and MMIO writes; completions out of order. By hand
// on a link of 16 bytes a cycle, one way takes 10 cycles, the memory 5.
#include <catch2/catch.hpp>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"
#include "tlm/pcie/pcie_tlp_link.h"

namespace hca::tlm_ {
// Requests of 24 bytes leave in 1.5 cycles: the first is at memory in 12, its data on the line from
// 17 to 37. A write in 20 takes 10 cycles of the line: the completion of the second read, which is
// worked out after it, has them from 47 to 67.
TEST_CASE("an MMIO write delays the completions that are worked out behind it", "[pcie][mmio]") {
  PcieLink link(one_completion(), kHertz);
  CHECK(link.read(0, 0, kReadBytes).last == 47);
  CHECK(link.mmio_write(20, kMmioBytes) == 40);  // it waits for no completion
  CHECK(link.read(2, 0, kReadBytes).last == 77);
}

// Data from 17 to 37 and from 117 to 137: the 80 cycles between hold 8 such writes, the ninth has
// to be taken from the time after them.
TEST_CASE("MMIO writes take the time between completions first", "[pcie][mmio]") {
  const u32 writes = GENERATE(1u, 8u, 9u);
  PcieLink link(one_completion(), kHertz);
  CHECK(link.read(0, 0, kReadBytes).last == 47);
  CHECK(link.read(100, 0, kReadBytes).last == 147);
  for (u32 i = 0; i < writes; ++i) CHECK(link.mmio_write(30, kMmioBytes) == 50 + 10 * i);
  CHECK(link.read(102, 0, kReadBytes).last == (writes < 9 ? 167 : 177));
}

// Data from 17 to 37 and from 57 to 77. The first write has the line from 47 to 57, the second one
// in 57: it finds no time before 77, and the data of the third read are on the line from 87 to 107.
TEST_CASE("an MMIO write behind another takes the line when that has left", "[pcie][mmio]") {
  PcieLink link(one_completion(), kHertz);
  CHECK(link.read(0, 0, kReadBytes).last == 47);
  CHECK(link.read(40, 0, kReadBytes).last == 87);
  CHECK(link.mmio_write(47, kMmioBytes) == 67);
  CHECK(link.mmio_write(47, kMmioBytes) == 77);
  CHECK(link.read(42, 0, kReadBytes).last == 117);
}

TEST_CASE("an MMIO write on a free line delays the completion that meets it", "[pcie][mmio]") {
  PcieLink link(one_completion(), kHertz);
  CHECK(link.mmio_write(15, kMmioBytes) == 35);  // on the line from 15 to 25
  CHECK(link.read(0, 0, kReadBytes).last == 55);
}

// So much for both: 10000 reads of 320 bytes and as many writes of 160 are 300000 cycles of 16
// bytes. No TLP comes earlier than the line could have carried all before it.
TEST_CASE("completions and MMIO writes together take no more than the line", "[pcie][mmio]") {
  PcieConfig config = one_completion();
  config.read_tags = 4;
  PcieLink link(config, kHertz);
  Cycle at = 0, last = 0;
  constexpr u32 kEach = 10'000;
  for (u32 i = 0; i < kEach; ++i) {
    const auto read = link.read(at, 0, kReadBytes);
    at = read.next, last = read.last;
    link.mmio_write(at, kMmioBytes);
  }
  CHECK(last >= 300'000 - 10 * 4);
  CHECK(last <= 300'000 + 100);
}

namespace {
// 16 bytes a cycle.
DownLine line_by_hand() { return DownLine(engine::Rate(32'000'000'000, kHertz)); }
}  // namespace

TEST_CASE("a completion fits into a gap that has the time and the bytes for it", "[pcie][order]") {
  DownLine line = line_by_hand();
  CHECK(line.fit(0, 16) == 0);
  CHECK(line.send(100, 160) == 110);  // the gap from 0 to 100
  CHECK(line.fit(20, 160) == 30);     // two are left: to 20, and from 30
  CHECK(line.fit(0, 160) == 10);
  CHECK(line.fit(0, 160) == 20);  // the first is full
  CHECK(line.fit(0, 160) == 40);
  CHECK(line.fit(0, 1280) == 0);  // 80 cycles, of 60
  line.insert(30, 800);           // MMIO writes: 160 bytes are left, in 60 cycles
  CHECK(line.fit(0, 176) == 0);
  CHECK(line.fit(0, 160) == 50);
}

TEST_CASE("an MMIO write has of a gap what is behind its own cycle", "[pcie][mmio]") {
  DownLine line = line_by_hand();
  CHECK(line.send(100, 160) == 110);
  line.insert(95, 160);  // 5 cycles before 100, 5 after 110
  CHECK(line.free_from() == 115);
}

// 64 gaps: to 20, and 10 cycles each after that. The place for one more is missing: the time after
// a completion that begins inside of the first is lost.
TEST_CASE("of a gap that cannot be two the front part stays", "[pcie][order]") {
  DownLine line = line_by_hand();
  for (Cycle i = 1; i <= 64; ++i) CHECK(line.send(20 * i, 160) == 20 * i + 10);
  CHECK(line.fit(5, 160) == 15);
  CHECK(line.fit(0, 80) == 5);
  CHECK(line.fit(0, 80) == 35);
}

// The first read takes 1000 cycles more at memory by chance, or does not; the same chance for each.
TEST_CASE("by memory: completions overtake, by the seed", "[pcie][order]") {
  PcieConfig config = one_completion();
  config.completion_order = GENERATE(CompletionOrder::InOrder, CompletionOrder::ByMemory);
  config.memory_tail = 4'000'000, config.memory_tail_share = 500'000;  // 1000 cycles, each second
  const u64 seed = GENERATE(1u, 2u, 3u);
  PcieTlpLink link(config, kHertz, seed);
  engine::Random random(seed);
  Cycle latest = 0, overtaking = 0;
  for (u32 i = 0; i < 20; ++i) {
    // 40 cycles apart, so that no two meet on the line: request 1.5 cycles, 10 + 5 + 20 + 10.
    const Cycle at = 40 * i, tail = random.below(1'000'000) < 500'000 ? 1000 : 0;
    const Cycle own = at + 47 + tail;
    const Cycle last = link.read(at, 0, kReadBytes).last;
    CAPTURE(seed, i, tail);
    if (config.completion_order == CompletionOrder::ByMemory)
      CHECK(last == own);
    else
      CHECK(last >= latest);  // after all before it
    overtaking += last < latest;
    latest = std::max(latest, last);
  }
  CHECK((overtaking > 0) == (config.completion_order == CompletionOrder::ByMemory));
}

// Of two tags one waits for 1000 cycles: the other takes all other reads.
TEST_CASE("by memory: a tag is free with its own read", "[pcie][order]") {
  PcieConfig config = one_completion();
  config.read_tags = 2, config.completion_order = CompletionOrder::ByMemory;
  config.memory_tail = 4'000'000, config.memory_tail_share = 500'000;
  u64 seed = 0;
  for (;; ++seed) {  // one whose first chance is long, and the next three short
    engine::Random random(seed);
    const auto is_long = [&] { return random.below(1'000'000) < 500'000; };
    if (is_long() && !is_long() && !is_long() && !is_long()) break;
  }
  PcieTlpLink link(config, kHertz, seed);
  CHECK(link.read(0, 0, kReadBytes).last == 1047);
  CHECK(link.read(2, 0, kReadBytes).last == 48);
  // Its tag is free in 48: the request has left in 50, the data are on the line from 65 to 85.
  CHECK(link.read(4, 0, kReadBytes).last == 95);
}

// 236 of 256 bytes of a flit, and of what is left 2 of 100 for skips and flits sent again: 16 lanes
// of 64 Gb/s move 115.64 GB/s. A write of 240 bytes has a header of 16, without framing and CRC.
TEST_CASE("flit mode has its own overhead and headers", "[pcie]") {
  PcieConfig config;
  config.generation = 6;
  const engine::Rate rate = pcie_rate(config, 1'000'000'000);
  CHECK(double(rate.bytes) / double(rate.cycles) == Approx(115.64));
  config.flit_overhead = 0;  // 118 bytes a cycle
  config.latency = 0;
  PcieLink link(config, 1'000'000'000);
  constexpr u32 kWrites = 118;
  Cycle last = 0;
  for (u32 i = 0; i < kWrites; ++i) last = link.write(0, 0, 0, 240).next;
  CHECK(last == 256);
}

TEST_CASE("widths and sizes that no link has are refused", "[pcie]") {
  const auto refused = [](auto set) {
    PcieConfig config;
    set(config);
    CHECK_THROWS_AS(PcieLink(config, kHertz), engine::ConfigError);
  };
  refused([](PcieConfig& c) { c.lanes = 3; });
  refused([](PcieConfig& c) { c.mps = 300; });
  refused([](PcieConfig& c) { c.mrrs = 768; });
  refused([](PcieConfig& c) { c.completion_bytes = 100; });
  refused([](PcieConfig& c) { c.memory_rate = 1; });
  PcieConfig wide;
  wide.lanes = 12;
  CHECK_NOTHROW(PcieLink(wide, kHertz));
}
}  // namespace hca::tlm_

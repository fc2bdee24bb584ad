// SPDX-License-Identifier: Apache-2.0
// All expected cycles are worked out by hand on a link of 16 bytes a cycle: generation 1 with 16
// lanes moves 4 GB/s, the clock has 250 MHz. One way takes 10 cycles, the memory 5.
#include "tlm/pcie/pcie_link.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"

namespace hca::tlm_ {
TEST_CASE("a read takes its request, two ways, the memory and its completion", "[pcie]") {
  PcieLink link(plain(), kHertz);
  // 24 bytes leave in 1.5 cycles: at 101.5; 64 + 20 bytes take 5.25 cycles from 112 + 5 on.
  const auto first = link.read(100, 0, 64);
  CHECK(first.next == 102);
  CHECK(first.memory == 112);
  CHECK(first.first == 133);
  CHECK(first.last == 133);
  // The second request keeps the fraction (103.0), its completion follows the first (127.5).
  const auto second = link.read(102, 0, 64);
  CHECK(second.next == 103);
  CHECK(second.memory == 113);
  CHECK(second.last == 138);
}

TEST_CASE("the first completion of a read may be shorter", "[pcie]") {
  PcieConfig config = plain();
  config.first_completion = 64;
  PcieLink link(config, kHertz);
  // The request is there at 2 + 10, its data from 17 on: 84 bytes, to 22.25; 256 + 20 bytes to
  // 39.5; the last 192 + 20 bytes to 52.75.
  const auto timing = link.read(0, 0, 512);
  CHECK(timing.first == 23 + 10);
  CHECK(timing.last == 53 + 10);
  PcieLink short_one(config, kHertz);
  CHECK(short_one.read(0, 0, 64).last == 23 + 10);
}

TEST_CASE("a short read is answered by cache lines", "[pcie]") {
  PcieConfig config = plain();
  config.line_reads = 256;
  const auto read = [&](u32 bytes) { return PcieLink(config, kHertz).read(0, 0, bytes); };
  // Data from 17 on: 84 bytes, to 22.25; three of them to 32.75, four to 38.
  CHECK(read(192).first == 23 + 10);
  CHECK(read(192).last == 33 + 10);
  CHECK(read(256).last == 38 + 10);
  CHECK(read(64).last == 23 + 10);
  // One byte more is one completion of 256 bytes, to 34.25, and one of 1 byte: 1.3125.
  CHECK(read(257).first == 35 + 10);
  CHECK(read(257).last == 36 + 10);
  // The second part of a long one is short: two of 256 bytes, to 51.5, and two lines: 10.5.
  CHECK(read(640).last == 62 + 10);
}

TEST_CASE("a memory with a spread takes from its latency to that and the spread", "[pcie]") {
  PcieConfig config = plain();
  config.memory_spread = 40'000;  // 10 cycles
  PcieLink link(config, kHertz), again(config, kHertz);
  std::array<unsigned, 11> seen{};
  for (u64 i = 0; i < 1000; ++i) {
    const auto timing = link.read(i * 1000, 0, 64);
    // 2 cycles, 10, 5 and what it takes more, 5.25 or 6 of the line, 10.
    const u64 more = timing.last - i * 1000 - 33;
    REQUIRE(more <= 10);
    ++seen[more];
    CHECK(again.read(i * 1000, 0, 64).last == timing.last);
  }
  for (const unsigned times : seen) CHECK(times > 50);
}

TEST_CASE("a share of the reads takes the tail of memory longer", "[pcie]") {
  PcieConfig config = plain();
  config.memory_tail = 40'000, config.memory_tail_share = 250'000;  // 10 cycles, a quarter
  const auto slow = [&](u64 seed) {
    PcieLink link(config, kHertz, seed);
    std::vector<u64> all;
    for (u64 i = 0; i < 4000; ++i) {
      const u64 more = link.read(i * 1000, 0, 64).last - i * 1000 - 33;
      REQUIRE((more == 0 || more == 10));
      if (more) all.push_back(i);
    }
    return all;
  };
  // 1000 are expected, with a standard deviation of 27.
  CHECK(slow(1).size() > 860);
  CHECK(slow(1).size() < 1140);
  CHECK(slow(1) == slow(1));
  CHECK(slow(1) != slow(2));
  config.memory_tail_share = 1'000'000;
  CHECK(slow(1).size() == 4000);
  config.memory_tail_share = 0;
  CHECK(slow(1).empty());
}

TEST_CASE("a long read is split by MRRS and by the size of completions", "[pcie]") {
  PcieLink link(plain(), kHertz);
  // 2 requests; 4 completions of 276 bytes, 17.25 cycles each, from 17 on: 34.25, 51.5, 68.75, 86.
  const auto timing = link.read(0, 0, 1024);
  CHECK(timing.next == 3);
  CHECK(timing.memory == 12);
  CHECK(timing.first == 35 + 10);
  CHECK(timing.last == 86 + 10);
}

// The same requests one by one and as a run: 16 tags are never short, one too few always are.
TEST_CASE("a long read takes the same time whether its parts are counted one by one or not",
          "[pcie]") {
  // 8 parts of 512 bytes: requests of 1.5 cycles, completions of 2 * 17.25. The first part is asked
  // until 1.5, answered from 17 on; the last completion ends at 17 + 8 * 34.5 = 293.
  PcieLink run(plain(), kHertz);
  const auto timing = run.read(0, 0, 4096);
  CHECK(timing.next == 12);
  CHECK(timing.memory == 12);
  CHECK(timing.first == 35 + 10);
  CHECK(timing.last == 293 + 10);
  // 64 tags: the ninth such read, asked for at once, finds tag 0 free when the first part of the
  // first read is back: 17 + 34.5 -> 52 + 10, and so on, 34.5 cycles a part; its answers follow
  // those of the eight before without a gap: 17 + 72 * 34.5 = 2501.
  PcieLink busy(plain(), kHertz);
  blocks::ReadTiming last{};
  for (u32 i = 0; i < 9; ++i) last = busy.read(0, 0, 4096);
  CHECK(last.last == 2501 + 10);
}

// Whatever a TLP takes on the line: 1.5 cycles for a request of 24 bytes, or much less than one.
TEST_CASE("a long read takes as long as its parts, asked for in the same cycle", "[pcie]") {
  struct Line {
    u32 generation, lanes;
    u64 hertz;
  };
  const Line line = GENERATE(Line{1, 16, kHertz}, Line{3, 8, 350'000'000}, Line{5, 4, 156'250'000},
                             Line{6, 16, 156'250'000});
  PcieConfig config = plain();
  config.overhead = config.flit_overhead = 81;
  config.generation = line.generation, config.lanes = line.lanes;
  config.mrrs = GENERATE(128u, 512u);
  config.read_header = config.flit_read_header = GENERATE(12u, 64u);
  config.completion_header = config.flit_completion_header = 12;
  config.first_completion = GENERATE(64u, 4096u);
  config.read_tags = 40;
  CAPTURE(line.generation, config.mrrs, config.read_header, config.first_completion);
  PcieLink whole(config, line.hertz), parts(config, line.hertz);
  engine::Random random(line.generation);
  Cycle at = 0;
  for (u32 i = 0; i < 300; ++i) {
    const u32 bytes = config.mrrs + 1 + u32(random.below(random.below(2) ? 2048 : 1));
    CAPTURE(i, at, bytes);
    const auto read = whole.read(at, 0, bytes);
    const auto first = parts.read(at, 0, config.mrrs);
    auto last = first;
    for (u32 done = config.mrrs; done < bytes; done += config.mrrs)
      last = parts.read(at, 0, std::min(config.mrrs, bytes - done));
    REQUIRE(read.memory == first.memory);
    REQUIRE(read.first == first.first);
    REQUIRE(read.next == last.next);
    REQUIRE(read.last == last.last);
    at = read.next + random.below(random.below(2) ? 4 : 400);
  }
}

TEST_CASE("without a free tag a read waits for the last completion of an earlier one", "[pcie]") {
  PcieConfig config = plain();
  config.read_tags = 1;
  PcieLink link(config, kHertz);
  // The first part is back at 51.5 -> 52 + 10; its tag carries the second: 62 + 2, there at 74,
  // completions from 79 on: 96.25, 113.5 -> 114 + 10.
  const auto timing = link.read(0, 0, 1024);
  CHECK(timing.memory == 12);
  CHECK(timing.next == 64);
  CHECK(timing.last == 124);
  // A write is not held up by it: after the two requests (3.0), 88 bytes take 5.5 cycles.
  const auto write = link.write(10, 10, 0, 64);
  CHECK(write.memory == 16 + 10);
}

TEST_CASE("an AtomicOp takes its operands along and one completion with the value", "[pcie]") {
  PcieLink link(plain(), kHertz);
  // 24 + 8 bytes leave in 2 cycles; 8 + 20 bytes take 1.75 from 112 + 5 on.
  const auto add = link.atomic(100, 0, 8);
  CHECK(add.next == 102);
  CHECK(add.memory == 112);
  CHECK(add.first == 129);
  CHECK(add.last == 129);
  // 24 + 16 bytes, to 104.5; its completion from 115 + 5 to 121.75.
  const auto swap = link.atomic(102, 0, 16);
  CHECK(swap.next == 105);
  CHECK(swap.memory == 115);
  CHECK(swap.last == 132);
  PcieConfig config = plain();
  config.read_tags = 1;
  PcieLink one(config, kHertz);
  CHECK(one.atomic(100, 0, 8).last == 129);
  CHECK(one.read(102, 0, 64).next == 129 + 2);  // 24 bytes after the tag
  // That one is there in 141; 84 bytes from 146 on take 5.25: its tag is free in 162.
  CHECK(one.atomic(110, 0, 8).next == 162 + 2);
}

TEST_CASE("a write leaves TLP by TLP as its bytes are at hand", "[pcie]") {
  PcieConfig config = plain();
  config.mps = 128;
  PcieLink fast(config, kHertz);
  // Beats in 0, 1, 2, 3: the first 152 bytes leave from 1 to 10.5, the others until 20.
  const auto packed = fast.write(0, 3, 0, 256);
  CHECK(packed.next == 20);
  CHECK(packed.memory == 30);
  PcieLink slow(config, kHertz);
  // Beats in 0, 21, 42, 63: the second TLP waits for its last one, 63 + 9.5.
  const auto stretched = slow.write(0, 63, 0, 256);
  CHECK(stretched.next == 73);
  CHECK(stretched.memory == 83);
}

TEST_CASE("a short last TLP of a write follows the one before it", "[pcie]") {
  PcieConfig config = plain();
  config.mps = 128;
  // TLPs of 152, 152 and 88 bytes: 9.5, 9.5 and 5.5 cycles.
  PcieLink behind(config, kHertz);
  // Beats in 0, 8, 16, 24, 32: the second TLP leaves from 24 to 33.5, the last until 39.
  CHECK(behind.write(0, 32, 0, 320).next == 39);
  PcieLink waits(config, kHertz);
  // Beats in 0, 12, 24, 36, 48: the second is out at 45.5, the last leaves from 48 to 53.5.
  CHECK(waits.write(0, 48, 0, 320).next == 54);
  PcieLink busy(config, kHertz);
  // All beats at once: 24.5 cycles from 0 on.
  CHECK(busy.write(0, 0, 0, 320).next == 25);
}

TEST_CASE("an MMIO write takes its TLP and the way", "[pcie]") {
  PcieLink link(plain(), kHertz);
  CHECK(link.mmio_write(100, 8) == 112);   // 32 bytes, 2 cycles
  CHECK(link.mmio_write(100, 8) == 114);   // after it
  CHECK(link.mmio_write(200, 64) == 216);  // 88 bytes, 5.5 cycles
  CHECK(link.latency() == 10);
}

TEST_CASE("a stream of writes runs at exactly the rational rate of the link", "[pcie]") {
  PcieConfig config;  // generation 3, 16 lanes, 81 thousandths of overhead
  constexpr u64 clock = 350'000'000, writes = 100'000;
  const u32 bytes = GENERATE(256u, 257u, 384u, 512u, 513u, 1024u);  // one to four TLPs of 256
  const bool at_once = GENERATE(true, false);  // all at hand, or each requested after another
  CAPTURE(bytes, at_once);
  PcieLink link(config, clock);
  Cycle last = 0;
  for (u64 i = 0; i < writes; ++i) {
    const Cycle at = at_once ? 0 : last;
    last = link.write(at, at, 0, bytes).next;
  }
  const u64 on_the_line = bytes + (bytes + 255) / 256 * 24;
  // bytes * 8 / (8e9 * 16 * 128/130 * 919/1000) seconds
  const engine::u128 up = engine::u128{writes * on_the_line} * 8 * clock * 130 * 1000;
  const engine::u128 down = engine::u128{8'000'000'000} * 16 * 128 * 919;
  CHECK(last == u64((up + down - 1) / down));
}

TEST_CASE("generation 3 with 8 lanes has the usable rate that was measured", "[pcie]") {
  PcieConfig config;
  config.lanes = 8;
  const engine::Rate rate = pcie_rate(config, 1'000'000'000);
  CHECK(double(rate.bytes) * 8 / double(rate.cycles) == Approx(57.88).epsilon(0.001));  // Gb/s
}

TEST_CASE("generation 6 moves 236 bytes of TLPs in each flit of 256", "[pcie]") {
  PcieConfig config;
  config.generation = 6, config.flit_overhead = 0;
  // 16 lanes of 64 Gb/s are 128 GB/s, of which 236 / 256 are 118 GB/s.
  const engine::Rate rate = pcie_rate(config, 1'000'000'000);
  CHECK(rate.bytes == 118);
  CHECK(rate.cycles == 1);
  // One lane with 81 thousandths less: 118 / 16 * 919 / 1000 bytes a nanosecond = 54221 / 8000.
  config.lanes = 1, config.flit_overhead = 81;
  const engine::Rate one = pcie_rate(config, 1'000'000'000);
  CHECK(one.bytes == 54221);
  CHECK(one.cycles == 8000);
}

TEST_CASE("each knob of the link that is out of range is refused", "[pcie]") {
  PcieConfig config;
  config.generation = 7;
  CHECK_THROWS_AS(PcieLink(config, kHertz), engine::ConfigError);
}
}  // namespace hca::tlm_

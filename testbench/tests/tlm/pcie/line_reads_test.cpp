// SPDX-License-Identifier: Apache-2.0
// Reads of one cache line of host memory. All expected cycles are worked out by hand on a link of
// 16 bytes a cycle: one way takes 10 cycles, the memory 5. The request of a read is 1.5 cycles on
// the line, a completion of 64 bytes 5.25, of 8 bytes 1.75. A cycle is 4 ns.
#include "tlm/pcie/line_reads.h"

#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"
#include "tlm/pcie/pcie_tlp_link.h"

namespace hca::tlm_ {
namespace {
// Reads of a line follow each other after 100 cycles.
PcieConfig with_interval() {
  PcieConfig config = plain();
  config.same_line_interval = 400'000;
  return config;
}
// When the data of reads that are requested in cycle 0 are back, one after the other.
std::vector<Cycle> last_of(const PcieConfig& config, const std::vector<u64>& addresses,
                           u32 bytes = 8) {
  PcieTlpLink link(config, kHertz);
  std::vector<Cycle> all;
  for (const u64 address : addresses) all.push_back(link.read(0, address, bytes).last);
  return all;
}
}  // namespace

// The first is there in 12, its data in 17, 1.75 on the line: 18.75. The others each 100 later: they
// are there in 13, 15, 16 and wait.
TEST_CASE("reads of one line follow each other at the interval", "[pcie][same_line]") {
  CHECK(last_of(with_interval(), {0, 0, 0, 0}) == std::vector<Cycle>{29, 129, 229, 329});
  CHECK(last_of(with_interval(), {0, 56, 8, 32}) == std::vector<Cycle>{29, 129, 229, 329});
  // Without the interval they follow on the line: 18.75, 20.5, 22.25, 24.
  CHECK(last_of(plain(), {0, 0, 0, 0}) == std::vector<Cycle>{29, 31, 33, 34});
}

// The second line's first is there in 13, its data in 18: 20.5, after the first one's.
TEST_CASE("two lines in turn have twice the rate of one", "[pcie][same_line]") {
  CHECK(last_of(with_interval(), {0, 64, 0, 64, 0, 64}) ==
        std::vector<Cycle>{29, 31, 129, 131, 229, 231});
}

TEST_CASE("a read of another line does not wait", "[pcie][same_line]") {
  CHECK(last_of(with_interval(), {0, 64, 128, 4096}) == last_of(plain(), {0, 64, 128, 4096}));
  // Where completions may overtake: the third is there in 15, its data in 20, 1.75 on the line.
  PcieConfig config = with_interval();
  config.completion_order = CompletionOrder::ByMemory;
  CHECK(last_of(config, {0, 0, 64}) == std::vector<Cycle>{29, 129, 32});
}

// The read of both lines holds both. Where it waits for the later one, the earlier is free 100
// cycles after its own begin.
TEST_CASE("a read across two lines waits for both, and holds both", "[pcie][same_line]") {
  CHECK(last_of(with_interval(), {0, 60}) == std::vector<Cycle>{29, 129});
  CHECK(last_of(with_interval(), {64, 60}) == std::vector<Cycle>{29, 129});
  CHECK(last_of(with_interval(), {60, 0}) == std::vector<Cycle>{29, 129});
  CHECK(last_of(with_interval(), {60, 64}) == std::vector<Cycle>{29, 129});
  // Line 1 is held from 12 and from 112 on; line 0 by the third read, which is there in 15, until
  // 115: so the fourth has its data in 120.
  PcieConfig config = with_interval();
  config.completion_order = CompletionOrder::ByMemory;
  CHECK(last_of(config, {64, 64, 60, 0}) == std::vector<Cycle>{29, 129, 229, 132});
  CHECK(last_of(config, {0, 0, 60, 64}) == std::vector<Cycle>{29, 129, 229, 132});
}

// After 100 cycles the line is free: a read that is there in 112 begins at once, one in 111 waits.
TEST_CASE("a line is held for the interval, and not longer", "[pcie][same_line]") {
  for (Cycle at = 99; at <= 101; ++at) {
    PcieTlpLink link(with_interval(), kHertz);
    link.read(0, 0, 8);
    CHECK(link.read(at, 0, 8).last == std::max<Cycle>(at + 29, 129));
  }
}

// 43.3 ns are 10.825 cycles. The last of 1000 reads begins 999 intervals after 12, in 10826.175: its
// data are there in 10832, 1.75 on the line. With 11 cycles it would begin in 11001.
TEST_CASE("the interval is exact, and no whole number of cycles", "[pcie][same_line]") {
  PcieConfig config = with_interval();
  config.same_line_interval = 43'300;
  CHECK(last_of(config, std::vector<u64>(1000)).back() == 10834 + 10);
}

// Three writes of a line in memory in 16, 21 and 27, as without the interval, and a read that is
// there in 28 begins at once.
TEST_CASE("writes neither wait for a line nor hold it", "[pcie][same_line]") {
  PcieTlpLink link(with_interval(), kHertz), free(plain(), kHertz);
  for (const Cycle memory : {Cycle{16}, Cycle{21}, Cycle{27}}) {
    CHECK(link.write(0, 0, 0, 64).memory == memory);
    CHECK(free.write(0, 0, 0, 64).memory == memory);
  }
  CHECK(link.read(16, 0, 8).last == free.read(16, 0, 8).last);
  CHECK(link.write(17, 17, 0, 64).memory == free.write(17, 17, 0, 64).memory);
}

TEST_CASE("an AtomicOp is a read of its line", "[pcie][same_line][atomic]") {
  PcieTlpLink link(with_interval(), kHertz);
  link.read(0, 0, 8);
  // There in 14, its line is free in 112: data in 117, 1.75 on the line.
  CHECK(link.atomic(0, 8, 8).last == 119 + 10);
  CHECK(link.read(0, 16, 8).last == 219 + 10);
}

TEST_CASE("a read that hits the last-level cache waits for its line too",
          "[pcie][same_line][llc]") {
  PcieConfig config = with_interval();
  config.llc_bytes = 256, config.llc_latency = 8'000;
  PcieTlpLink link(config, kHertz);
  link.write(0, 0, 0, 64);
  CHECK(link.read(100, 0, 8).last == 116 + 10);  // there in 112, 2 cycles: 114, 115.75
  CHECK(link.read(100, 0, 8).last == 216 + 10);
}

// Channels of 4 bytes a cycle: the second read waits for its line, and another line of the same
// channel takes its turn behind the two, not behind the wait. There in 12, 13 and 15; 8 bytes are 2
// cycles of the channel.
TEST_CASE("a read that waits for its line does not keep memory", "[pcie][same_line][memory]") {
  PcieConfig config = with_interval();
  config.memory_rate = 8'000'000'000, config.completion_order = CompletionOrder::ByMemory;
  CHECK(last_of(config, {0, 0, 64}) == std::vector<Cycle>{29, 129, 33});  // 16, 21, 22.75
}

TEST_CASE("lines tell how long the busiest was held, and what waits", "[pcie][same_line][meter]") {
  struct Meter final : PcieMeter {
    void use(PciePart part, Cycle from, Cycle to, u64 amount) override {
      if (part != PciePart::Lines) return;
      CHECK(amount == to - from);
      used.emplace_back(from, to);
    }
    void waits(PciePart part, Cycle from, Cycle to) override {
      if (part == PciePart::Lines) waited.emplace_back(from, to);
    }
    std::vector<std::pair<Cycle, Cycle>> used, waited;
  } meter;
  PcieTlpLink link(with_interval(), kHertz);
  link.attach(&meter);
  CHECK(link.count(PciePart::Lines) == 1);
  CHECK(PcieTlpLink(plain(), kHertz).count(PciePart::Lines) == 0);
  for (const u64 address : {0, 64, 0}) link.read(0, address, 8);
  // The second line is held no longer than the first one.
  CHECK(meter.used == std::vector<std::pair<Cycle, Cycle>>{{12, 112}, {112, 212}});
  CHECK(meter.waited == std::vector<std::pair<Cycle, Cycle>>{{15, 112}});
  CHECK(link.root().counters().line_waits == 1);
  // Long after, another line is the busiest.
  link.read(100'000, 64, 8);
  CHECK(meter.used.back() == std::pair<Cycle, Cycle>{100'012, 100'112});
}

TEST_CASE("lines that are free are forgotten without a change of times", "[pcie][same_line]") {
  LineReads lines(400'000, kHertz);
  CHECK(lines.take(1000, 7).begins == 1000);
  CHECK(lines.take(1000, 8).begins == 1000);
  CHECK(lines.take(1000, 8).begins == 1100);
  lines.pass_until(1100);  // 7 is free from here on, 8 is not
  CHECK(lines.take(1100, 7).begins == 1100);
  CHECK(lines.take(1100, 8).begins == 1200);
  lines.pass_until(1'000'000);
  CHECK(lines.take(1'000'000, 8).begins == 1'000'000);
}

TEST_CASE("only with an interval the link counts TLPs for it", "[pcie][same_line]") {
  CHECK_FALSE(needs_tlps(plain()));
  CHECK(needs_tlps(with_interval()));
}
}  // namespace hca::tlm_

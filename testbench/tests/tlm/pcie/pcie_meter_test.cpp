// SPDX-License-Identifier: Apache-2.0
// What a link tells of itself: what is in use, and what TLPs wait for. By hand on a link of 16
// bytes a cycle, one way takes 10 cycles, the memory 5. A write of 64 bytes is 88 on the line, 5.5
// cycles; the request of a read 1.5, its completion of 64 bytes 84, 5.25 cycles.
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <vector>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"
#include "tlm/pcie/pcie_tlp_link.h"

namespace hca::tlm_ {
namespace {
using Times = std::vector<std::pair<Cycle, Cycle>>;
struct MeteredLink final : PcieTlpLink, PcieMeter {
  explicit MeteredLink(const PcieConfig& config, u64 seed = 0) : PcieTlpLink(config, kHertz, seed) {
    attach(this);
  }
  void use(PciePart part, Cycle from, Cycle to, u64 amount) override {
    used[part].emplace_back(from, to), amounts[part] += amount;
  }
  void waits(PciePart part, Cycle from, Cycle to) override { waited[part].emplace_back(from, to); }
  Cycle write_from(Cycle at, u64 address = 0, u32 bytes = 64) {
    return PcieTlpLink::write(at, at, address, bytes).memory;
  }
  std::map<PciePart, Times> used, waited;
  std::map<PciePart, u64> amounts;
};
}  // namespace

// The first request leaves until 2, its data are back in 33: the second one has the tag then, and
// leaves until 35, is there in 45, its completion on the line from 50 to 55.25.
TEST_CASE("reads that wait for their tag do not wait for the line too", "[pcie][meter]") {
  PcieConfig config = plain();
  config.read_tags = 1, config.root_nonposted_headers = 1;
  MeteredLink link(config);
  link.read(0, 0, 64), link.read(0, 0, 64);
  CHECK(link.waited == std::map<PciePart, Times>{{PciePart::Tags, {{0, 33}}}});
  CHECK(link.used[PciePart::Tags] == Times{{0, 33}, {33, 66}});
  // A credit from the start of its TLP, until it is there and 10 cycles back.
  CHECK(link.used[PciePart::NonpostedHeaders] == Times{{0, 22}, {33, 55}});
}

TEST_CASE("reads wait for their credit, or for the line", "[pcie][meter]") {
  PcieConfig config = plain();
  config.root_nonposted_headers = 1;
  MeteredLink credit(config);
  credit.read(0, 0, 64), credit.read(0, 0, 64);
  CHECK(credit.waited == std::map<PciePart, Times>{{PciePart::NonpostedHeaders, {{0, 22}}}});
  CHECK(credit.used[PciePart::NonpostedHeaders] == Times{{0, 22}, {22, 44}});
  MeteredLink line(plain());
  line.read(0, 0, 64), line.read(0, 0, 64);  // the second from 1.5 on, its completion from 22.25
  CHECK(line.waited ==
        std::map<PciePart, Times>{{PciePart::Up, {{0, 2}}}, {PciePart::Down, {{18, 23}}}});
  CHECK(line.amounts[PciePart::Up] == 2 * 24);
  CHECK(line.amounts[PciePart::Down] == 2 * 84);
}

// On the line from 17 to 37; the request of the second leaves until 3.0, its data are there in 18.
TEST_CASE("completions wait for the line, or for credits", "[pcie][meter]") {
  PcieConfig config = one_completion();
  config.device_completion_headers = 2;
  MeteredLink line(config);
  line.read(0, 0, kReadBytes), line.read(2, 0, kReadBytes);
  CHECK(line.waited == std::map<PciePart, Times>{{PciePart::Down, {{18, 37}}}});
  // Here 10 cycles later, and 10 cycles back.
  CHECK(line.used[PciePart::CompletionHeaders] == Times{{17, 57}, {37, 77}});
  config.device_completion_headers = 1;
  MeteredLink credit(config);
  credit.read(0, 0, kReadBytes), credit.read(2, 0, kReadBytes);
  CHECK(credit.waited == std::map<PciePart, Times>{{PciePart::CompletionHeaders, {{18, 57}}}});
  CHECK(credit.used[PciePart::CompletionHeaders] == Times{{17, 57}, {57, 97}});
}

// On the line from 0 to 5.5 and from there to 11; in memory 10 later, the credit back in 10 more.
TEST_CASE("writes wait for the line and take their credits when they start", "[pcie][meter]") {
  PcieConfig config = plain();
  config.root_posted_headers = 4, config.root_posted_data = 32;
  MeteredLink link(config);
  link.write_from(0), link.write_from(0);
  CHECK(link.waited == std::map<PciePart, Times>{{PciePart::Up, {{0, 6}}}});
  CHECK(link.used[PciePart::PostedHeaders] == Times{{0, 26}, {6, 31}});
  CHECK(link.amounts[PciePart::PostedHeaders] == 26 + 25);
  CHECK(link.amounts[PciePart::PostedData] == 4 * (26 + 25));
}

// 280 bytes, 17.5 cycles: in memory in 28, all 16 credits back in 38.
TEST_CASE("writes wait for the credits of their data", "[pcie][meter]") {
  PcieConfig config = plain();
  config.root_posted_data = 16;
  MeteredLink link(config);
  link.write_from(0, 0, 256), link.write_from(0, 0, 256);
  CHECK(link.waited == std::map<PciePart, Times>{{PciePart::PostedData, {{0, 38}}}});
}

// 136 bytes and the header are 10 cycles.
TEST_CASE("MMIO writes take the line downstream until they have left", "[pcie][meter][mmio]") {
  MeteredLink link(plain());
  link.mmio_write(0, 136), link.mmio_write(0, 136);
  CHECK(link.used[PciePart::Down].at(0).second == 10);
  CHECK(link.used[PciePart::Down].at(1).second == 20);
  CHECK(link.amounts[PciePart::Down] == 2 * 160);
}

// Windows of 100 cycles. The writes from 0 and 50 on lie in the first one, in memory in 16 and 66,
// their credits back in 26 and 76; the credit of the one in 90 is back in 116.
TEST_CASE("uses within a window of the meter are told as one sum", "[pcie][meter]") {
  struct Windowed final : PcieMeter {
    void use(PciePart part, Cycle from, Cycle to, u64 amount) override {
      if (part == PciePart::PostedHeaders) told.push_back({from, to, amount});
    }
    void waits(PciePart, Cycle, Cycle) override {}
    PcieWindow window(Cycle at) override { return {at - at % 100, at - at % 100 + 100}; }
    using Told = std::vector<std::array<u64, 3>>;
    Told told;
  } meter;
  PcieConfig config = plain();
  config.root_posted_headers = 4;
  PcieTlpLink link(config, kHertz);
  link.attach(&meter);
  const auto write_at = [&](Cycle at) { link.write(at, at, 0, 64); };
  write_at(0), write_at(50);
  CHECK(meter.told.empty());
  write_at(90);
  CHECK(meter.told == Windowed::Told{{90, 116, 26}});
  write_at(120);  // in the next window
  CHECK(meter.told == Windowed::Told{{90, 116, 26}, {0, 0, 52}});
  link.tell_use();
  CHECK(meter.told == Windowed::Told{{90, 116, 26}, {0, 0, 52}, {100, 100, 26}});
  link.tell_use();
  CHECK(meter.told.size() == 3);
}

// 64 bytes at 4 a cycle: 16. There in 16 and in 21.
TEST_CASE("memory is at work from the turn of a TLP on, others wait", "[pcie][meter][memory]") {
  PcieConfig config = plain();
  config.memory_rate = 8'000'000'000;
  MeteredLink link(config);
  link.write_from(0), link.write_from(0);
  CHECK(link.used[PciePart::Memory] == Times{{16, 32}, {32, 48}});
  CHECK(link.waited[PciePart::Memory] == Times{{21, 32}});
}

// A walk of 100 cycles each, one after the other: of the page of the first write, there in 16, and
// of that of the third; the second, there in 21, waits for the same walk as the first.
TEST_CASE("a walker is at work for its walk, TLPs wait for all of it", "[pcie][meter][iommu]") {
  PcieConfig config = plain();
  config.iommu_entries = 4, config.iommu_walk = 400'000;
  MeteredLink link(config);
  CHECK(link.write_from(0, 0) == 116);
  CHECK(link.write_from(0, 64) == 116);
  CHECK(link.write_from(20, 4096) == 216);  // there in 26 + 10
  CHECK(link.used[PciePart::Walkers] == Times{{16, 116}, {116, 216}});
  CHECK(link.waited[PciePart::Walkers] == Times{{16, 116}, {21, 116}, {36, 216}});
}

// Two TLPs of 280 bytes, 17.5 cycles: there in 1028 and 1045, the second in a page that is known.
TEST_CASE("with relaxed ordering a write is in memory with the last of its TLPs to get there",
          "[pcie][iommu]") {
  PcieConfig config = plain();
  config.iommu_entries = 4, config.iommu_walk = 400'000, config.relaxed_ordering = true;
  MeteredLink link(config);
  link.write_from(0, 4096);
  CHECK(link.write_from(1000, 4096 - 256, 512) == 1128);
}

// 64 bytes there; the data of a read of both lines are there in 117, and not in 114.
TEST_CASE("a read of which the last line alone is in the cache goes to memory", "[pcie][llc]") {
  PcieConfig config = plain();
  config.llc_bytes = 256, config.llc_latency = 8'000;
  MeteredLink link(config);
  link.write_from(0, 64);
  CHECK(link.read(100, 0, 128).last == 127 + 10);  // 148 bytes, 9.25 cycles
  CHECK(link.root().counters().llc_hits == 0);
}

// Both lines of a TLP push out one that stood in its set, 4 cycles of memory each.
TEST_CASE("every line that has to go is counted and written to memory", "[pcie][llc]") {
  PcieConfig config = plain();
  config.llc_bytes = 128, config.llc_ways = 1;
  config.memory_rate = 32'000'000'000;
  MeteredLink link(config);
  CHECK(link.write_from(0, 0, 128) == 20);  // 152 bytes, 9.5 cycles: both sets are empty
  CHECK(link.write_from(100, 128, 128) == 120 + 8);
  CHECK(link.root().counters().written_back == 2);
}

// Two TLPs of 512 bytes, whose data are there in 17 and 18, or 1000 cycles later by chance: 532
// bytes on the line, 33.25 cycles. From 17 they end at 50.25, and the next at 83.5; before
// data that come later from 18 on, until 52.
TEST_CASE("by memory: each TLP of a read has its own chance", "[pcie][order]") {
  PcieConfig config = plain();
  config.mps = config.completion_bytes = 512, config.completion_order = CompletionOrder::ByMemory;
  config.memory_tail = 4'000'000, config.memory_tail_share = 500'000;
  for (u64 seed = 0; seed < 20; ++seed) {
    engine::Random random(seed);
    const bool first = random.below(1'000'000) < 500'000,
               second = random.below(1'000'000) < 500'000;
    MeteredLink link(config, seed);
    CAPTURE(seed, first, second);
    CHECK(link.read(0, 0, 1024).last == (first    ? second ? 1084 + 10 : 1051 + 10
                                         : second ? 1052 + 10
                                                  : 84 + 10));
  }
}

// Of 256 bytes and the rest, which fits where the 256 do not.
TEST_CASE("by memory: the completions of one read keep their order", "[pcie][order]") {
  PcieConfig config = plain();
  config.completion_order = CompletionOrder::ByMemory, config.memory_spread = 800'000;
  MeteredLink link(config);
  engine::Random random(1);
  for (u32 i = 0; i < 10'000; ++i) {
    const auto timing = link.read(30 * i, 0, u32(257 + random.below(60)));
    REQUIRE(timing.first < timing.last);
  }
}
}  // namespace hca::tlm_

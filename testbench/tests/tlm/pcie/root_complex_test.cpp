// SPDX-License-Identifier: Apache-2.0
// All expected cycles are worked out by hand on a link of 16 bytes a cycle: generation 1 with 16
// lanes moves 4 GB/s, the clock has 250 MHz. One way takes 10 cycles, the memory 5. A write of 64
// bytes is 88 on the line, 5.5 cycles; the request of a read 1.5.
#include "tlm/pcie/root_complex.h"

#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"
#include "testbench/tests/tlm/pcie/sum_of_use.h"
#include "tlm/pcie/pcie_tlp_link.h"

namespace hca::tlm_ {
namespace {
constexpr u64 kPage = 4096;
// Two translations of one set; a walk of 100 cycles.
PcieConfig with_iommu() {
  PcieConfig config = plain();
  config.iommu_entries = 2, config.iommu_ways = 2, config.iommu_walk = 400'000;
  return config;
}
// Four lines in two sets; 2 cycles.
PcieConfig with_cache() {
  PcieConfig config = plain();
  config.llc_bytes = 256, config.llc_ways = 2, config.llc_latency = 8'000;
  return config;
}
}  // namespace

TEST_CASE("a write waits for the walk of its page", "[pcie][iommu]") {
  PcieTlpLink link(with_iommu(), kHertz);
  const auto write = [&](Cycle at, u64 page) {
    return link.write(at, at, page * kPage, 64).memory;
  };
  CHECK(write(0, 0) == 16 + 100);     // there at 6 + 10
  CHECK(write(0, 0) == 116);          // there at 21: it waits for the same walk
  CHECK(write(20, 1) == 116 + 100);   // there at 36, and the walker is free from 116 on
  CHECK(write(300, 0) == 316);        // kept
  CHECK(write(400, 2) == 416 + 100);  // in the place of page 1, which was used before page 0
  CHECK(write(600, 0) == 616);        // still kept
  CHECK(write(700, 1) == 716 + 100);  // not kept
  CHECK(link.root().counters().translations == 7);
  CHECK(link.root().counters().walks == 4);
}

TEST_CASE("so many pages are walked at the same time as there are walkers", "[pcie][iommu]") {
  PcieConfig config = with_iommu();
  config.iommu_walkers = 2;
  PcieTlpLink link(config, kHertz);
  CHECK(link.write(0, 0, 0, 64).memory == 116);
  CHECK(link.write(20, 20, kPage, 64).memory == 136);  // there at 36
}

TEST_CASE("sets of the IOMMU take pages by their remainder", "[pcie][iommu]") {
  PcieConfig config = with_iommu();
  config.iommu_ways = 1;
  PcieTlpLink link(config, kHertz);
  const auto walks = [&](Cycle at, u64 page) {
    return link.write(at, at, page * kPage, 64).memory != at + 16;
  };
  CHECK(walks(0, 0));
  CHECK(walks(1000, 2));  // in the set of page 0, in its place
  CHECK(walks(2000, 1));
  CHECK(!walks(3000, 2));
  CHECK(walks(4000, 0));
  CHECK(!walks(5000, 1));
}

TEST_CASE("a write waits for the translations of those before, unless ordering is relaxed",
          "[pcie][iommu]") {
  for (const bool relaxed : {false, true}) {
    PcieConfig config = with_iommu();
    config.relaxed_ordering = relaxed;
    PcieTlpLink link(config, kHertz);
    link.write(0, 0, 0, 64);
    CHECK(link.write(200, 200, kPage, 64).memory == 316);  // there at 216
    // Its page is known, and it is there at 211 + 10.
    CHECK(link.write(200, 200, 0, 64).memory == (relaxed ? 221 : 316));
    // The walk of its page is not done.
    CHECK(link.write(210, 210, kPage, 64).memory == 316);
  }
}

TEST_CASE("a read waits for the walks of all its pages, and its credit with it", "[pcie][iommu]") {
  PcieConfig config = with_iommu();
  config.root_nonposted_headers = 1;
  PcieTlpLink link(config, kHertz);
  // There at 12, translated in 112, data from 117 on, 84 bytes: 122.25.
  const auto timing = link.read(0, 64, 64);
  CHECK(timing.memory == 112);
  CHECK(timing.last == 123 + 10);
  CHECK(link.read(0, 64, 64).next == 122 + 2);  // the credit came back with the walk
  PcieTlpLink both(with_iommu(), kHertz);
  CHECK(both.read(0, 4000, 200).memory == 212);  // one after the other
}

TEST_CASE("a read of what DMA wrote is answered by the cache", "[pcie][llc]") {
  PcieTlpLink link(with_cache(), kHertz);
  CHECK(link.write(0, 0, 0, 128).memory == 20);  // 152 bytes, 9.5 cycles
  // There at 102 + 10, data from 114 on: 148 bytes, 9.25 cycles.
  CHECK(link.read(100, 0, 128).last == 124 + 10);
  CHECK(link.read(200, 128, 128).last == 227 + 10);  // from 217 on: not there
  CHECK(link.read(300, 64, 128).last == 327 + 10);   // half of it
  CHECK(link.read(400, 128, 64).last == 423 + 10);   // a read leaves nothing: 84 bytes from 417 on
  CHECK(link.root().counters().llc_reads == 4);
  CHECK(link.root().counters().llc_hits == 1);
}

TEST_CASE("a line that has to go is written to memory first", "[pcie][llc]") {
  PcieConfig config = with_cache();
  config.memory_rate = 32'000'000'000;  // 16 bytes a cycle: a line takes 4
  PcieTlpLink link(config, kHertz);
  CHECK(link.write(0, 0, 0, 64).memory == 16);
  CHECK(link.write(100, 100, 128, 64).memory == 116);      // the other line of its set
  CHECK(link.write(200, 200, 0, 64).memory == 216);        // there already
  CHECK(link.write(300, 300, 256, 64).memory == 316 + 4);  // the second one goes
  CHECK(link.read(400, 0, 64).last == 420 + 10);           // there: 84 bytes from 414 on
  CHECK(link.read(500, 128, 64).last == 523 + 10);         // gone: from 517 on
  CHECK(link.root().counters().written_back == 1);
}

TEST_CASE("memory moves reads and writes at its rate", "[pcie][memory]") {
  PcieConfig config = plain();
  config.memory_rate = 8'000'000'000;  // 4 bytes a cycle
  PcieTlpLink writes(config, kHertz);
  CHECK(writes.write(0, 0, 0, 256).memory == 28 + 64);
  CHECK(writes.write(0, 0, 0, 256).memory == 92 + 64);  // there at 45
  PcieTlpLink reads(config, kHertz);
  CHECK(reads.read(0, 0, 64).last == 23 + 10);  // 12, 17, 22.25
  CHECK(reads.read(2, 0, 64).last == 39 + 10);  // its turn comes in 28: 33, 38.25
  // Behind a write: there at 6 + 10, memory has it in 32; the read's turn is in 32 then.
  PcieTlpLink mixed(config, kHertz);
  CHECK(mixed.write(0, 0, 0, 64).memory == 32);
  CHECK(mixed.read(6, 0, 64).last == 43 + 10);  // 37, 42.25
}

TEST_CASE("a slow memory keeps posted credits, and these the link", "[pcie][memory][credits]") {
  PcieConfig config = plain();
  config.memory_rate = 8'000'000'000, config.root_posted_headers = 1;
  PcieTlpLink link(config, kHertz);
  link.write(0, 0, 0, 256);                     // in memory in 92, its credit back in 102
  CHECK(link.write(0, 0, 0, 256).next == 120);  // 102 + 17.5
}

// The most without scaled flow control: 8 bits count headers, 12 bits count data, and half of the
// range may be out.
TEST_CASE("the root complex and the HCA have finite buffers, unless infinite ones are asked for",
          "[pcie][credits]") {
  const PcieConfig config;
  const PcieTlpLink link(config, kHertz);
  CHECK(link.count(PciePart::PostedHeaders) == 127);
  CHECK(link.count(PciePart::PostedData) == 2047);
  CHECK(link.count(PciePart::NonpostedHeaders) == 127);
  CHECK(config.device_posted_headers == 127);
  CHECK(config.device_posted_data == 750);
  CHECK(link.count(PciePart::CompletionHeaders) ==
        0);  // an endpoint has to advertise infinite ones
  CHECK(link.count(PciePart::Memory) == 8);
  const PcieTlpLink endless(without_limits(), kHertz);
  for (const PciePart part : {PciePart::PostedHeaders, PciePart::PostedData,
                              PciePart::NonpostedHeaders, PciePart::Memory})
    CHECK(endless.count(part) == 0);
}

// Two channels of 4 bytes a cycle each, 256 bytes in turn: block 0 is in channel 0, blocks 1 and 2
// in channel 1 (2 is folded by one bit), block 3 in channel 0. A read of 64 bytes has its request
// at memory in 12 and later; it takes 16 cycles there.
TEST_CASE("reads of one channel wait for each other, those of several do not", "[pcie][memory]") {
  PcieConfig config = plain();
  config.memory_rate = 16'000'000'000, config.memory_channels = 2;
  const auto last = [&](std::initializer_list<u64> addresses) {
    PcieTlpLink link(config, kHertz);
    Cycle end = 0;
    for (const u64 address : addresses) end = link.read(0, address, 64).last;
    return end;
  };
  // The second leaves in 3 and is there in 13; of another channel it has its data in 18, and its
  // completion of 84 bytes follows the first one's on the line: 17 + 2 * 5.25 = 27.5.
  CHECK(last({0, 256}) == 28 + 10);
  CHECK(last({0, 512}) == 28 + 10);
  CHECK(last({0, 64}) == 39 + 10);  // its turn is in 28, data in 33, 38.25
  CHECK(last({0, 768}) == 39 + 10);
  CHECK(last({256, 512}) == 39 + 10);
  CHECK(last({0, 64, 128, 192}) == 71 + 10);  // 60, 65, 70.25: the later, the longer
  // A read over both channels has its data after the later turn.
  PcieTlpLink link(config, kHertz);
  link.read(0, 256, 64);
  CHECK(link.read(0, 192, 128).last == 43 + 10);  // 28, 33, and 148 bytes: 42.25
}

// 256 bytes are 64 cycles of memory; its room is free, and it is there, 25 cycles later.
TEST_CASE("a write is in memory after memory_write_latency", "[pcie][memory]") {
  PcieConfig config = plain();
  config.memory_rate = 8'000'000'000, config.memory_write_latency = 100'000;
  config.root_posted_headers = 1;
  PcieTlpLink link(config, kHertz);
  CHECK(link.write(0, 0, 0, 256).memory == 28 + 64 + 25);
  CHECK(link.write(0, 0, 0, 256).next == 117 + 10 + 18);  // the credit's way, 17.5 on the line
}

TEST_CASE("walkers and memory tell when they are at work", "[pcie][iommu][memory]") {
  PcieConfig config = with_iommu();
  config.iommu_walkers = 3, config.memory_rate = 8'000'000'000;
  PcieTlpLink link(config, kHertz);
  CHECK(link.count(PciePart::Walkers) == 3);
  CHECK(link.count(PciePart::Memory) == 1);
  SumOfUse meter;
  link.attach(&meter);
  auto& used = meter.used;
  for (u64 i = 0; i < 10; ++i) link.write(i * 1000, i * 1000, i * kPage, 64);
  CHECK(used[PciePart::Walkers] == 10 * 100);
  CHECK(used[PciePart::Memory] == 10 * 16);
}

TEST_CASE("caches that are no whole number of sets are refused", "[pcie][iommu][llc]") {
  PcieConfig config = with_iommu();
  config.iommu_entries = 3;
  CHECK_THROWS_WITH(check_pcie(config),
                    "pcie.iommu_entries: \"3\" is no whole number of sets of pcie.iommu_ways; "
                    "allowed: 0, or a multiple of 2");
  config = with_cache();
  config.llc_bytes = 192;
  CHECK_THROWS_WITH(check_pcie(config),
                    "pcie.llc_bytes: \"192\" is no whole number of sets of pcie.llc_ways lines; "
                    "allowed: 0, or a multiple of 128");
}
}  // namespace hca::tlm_

// SPDX-License-Identifier: Apache-2.0
// All expected cycles are worked out by hand on a link of 16 bytes a cycle: generation 1 with 16
// lanes moves 4 GB/s, the clock has 250 MHz. One way takes 10 cycles, the memory 5.
#include "tlm/pcie/pcie_tlp_link.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>

#include "testbench/tests/tlm/pcie/pcie_by_hand.h"
#include "testbench/tests/tlm/pcie/sum_of_use.h"

namespace hca::tlm_ {
TEST_CASE("TLP by TLP a link has the times of one that counts whole requests", "[pcie]") {
  // On the line a TLP of 152 bytes takes 7.4 cycles, 1.6, and 0.2: less than its data may.
  struct Line {
    u32 generation, lanes;
    u64 hertz;
  };
  const Line line =
      GENERATE(Line{3, 8, 350'000'000}, Line{5, 4, 156'250'000}, Line{6, 16, 156'250'000});
  const PcieSplit split = GENERATE(PcieSplit::BySize, PcieSplit::ByAddress);
  for (const u32 completion : {64u, 128u, 4096u}) {
    PcieConfig config = plain();
    config.line_reads = GENERATE(0u, 192u, 512u);
    config.split = split;
    config.mps = 128, config.first_completion = completion;
    config.read_tags = 12, config.memory_spread = 8'000, config.overhead = 81;
    config.generation = line.generation, config.lanes = line.lanes;
    PcieLink whole(config, line.hertz, 3);
    PcieTlpLink pieces(config, line.hertz, 3);
    const double on_line = 152.0 * double(pcie_rate(config, line.hertz).cycles) /
                           double(pcie_rate(config, line.hertz).bytes);
    engine::Random random(completion);
    Cycle at = 0, next = 0;
    for (u64 i = 0; i < 20'000; ++i) {
      const u64 page = i % 8 * 4096;  // where all boundaries are
      const u32 bytes = u32(1 + random.below(random.below(4) ? 600 : 8000));
      at += random.below(random.below(8) ? 6 : 400);
      if (random.below(2)) at = std::max(at, next);  // directly after the write before
      CAPTURE(i, at, bytes);
      const bool writes_alone = line.generation > 3;  // whose requests are much less than a cycle
      if (writes_alone || random.below(2)) {
        // All at hand at once, a beat each so many cycles, or in about the time that the line
        // takes.
        const Cycle beats = (bytes - 1) / 64, evenly = beats * random.below(12);
        const double mine = double(beats) * 64 / 128 * on_line;
        const Cycle end = at + (random.below(2) ? evenly : Cycle(mine) + random.below(1 + beats));
        const auto a = whole.write(at, end, 0, bytes), b = pieces.write(at, end, page, bytes);
        REQUIRE(b.next == a.next);
        REQUIRE(b.memory == a.memory);
        next = a.next;
      } else if (!random.below(6)) {
        const u32 operands = random.below(2) ? 8 : 16;
        const auto a = whole.atomic(at, 0, operands), b = pieces.atomic(at, page, operands);
        REQUIRE(b.next == a.next);
        REQUIRE(b.memory == a.memory);
        REQUIRE(b.first == a.first);
        REQUIRE(b.last == a.last);
      } else {
        const auto a = whole.read(at, 0, bytes), b = pieces.read(at, page, bytes);
        REQUIRE(b.next == a.next);
        REQUIRE(b.memory == a.memory);
        REQUIRE(b.first == a.first);
        REQUIRE(b.last == a.last);
      }
      REQUIRE(pieces.mmio_write(at, bytes) == whole.mmio_write(at, bytes));
    }
  }
}

// Most of them find the lines and the tags that they need free, some just so or just not.
TEST_CASE("TLP by TLP a stream of long reads has the times of one that counts whole requests",
          "[pcie]") {
  const u32 tags = GENERATE(7u, 16u, 17u, 64u);
  const u64 latency = GENERATE(40'000u, 4'000'000u);  // ps: 10 cycles, or answers for some reads
  PcieConfig config = plain();
  config.read_tags = tags, config.latency = latency, config.memory_spread = GENERATE(0u, 20'000u);
  config.read_header = GENERATE(24u, 64u), config.mrrs = GENERATE(128u, 512u);
  CAPTURE(tags, latency, config.memory_spread, config.read_header, config.mrrs);
  PcieLink whole(config, kHertz, 5);
  PcieTlpLink pieces(config, kHertz, 5);
  constexpr std::array<u32, 6> kSizes{4096, 8192, 4096, 1500, 4096, 1024};
  engine::Random random(tags);
  Cycle at = 0;
  for (u64 i = 0; i < 1000; ++i) {
    const u32 bytes = kSizes[random.below(kSizes.size())];
    CAPTURE(i, at, bytes);
    const auto a = whole.read(at, 0, bytes), b = pieces.read(at, i % 8 * 8192, bytes);
    REQUIRE(b.next == a.next);
    REQUIRE(b.memory == a.memory);
    REQUIRE(b.first == a.first);
    REQUIRE(b.last == a.last);
    // Around the end of the requests, or of the answers, or anywhere.
    const Cycle takes = random.below(2) ? a.last - a.first : 0;
    at = std::max(at, a.next) + takes + random.below(random.below(3) ? 6 : 600);
  }
}

TEST_CASE("by address a write is cut at the multiples of MPS and at 4 KiB", "[pcie][split]") {
  PcieConfig config = plain();
  const auto next = [&](u64 address, u32 bytes) {
    return PcieTlpLink(config, kHertz).write(0, 0, address, bytes).next;
  };
  CHECK(next(128, 256) == 18);  // 280 bytes, 17.5 cycles
  config.split = PcieSplit::ByAddress;
  CHECK(next(256, 256) == 18);
  CHECK(next(128, 256) == 19);   // 2 * 152 bytes
  CHECK(next(255, 256) == 19);   // 25 and 279 bytes: 1.5625 + 17.4375
  CHECK(next(255, 1) == 2);      // 25 bytes
  CHECK(next(128, 1024) == 72);  // 152, 3 * 280 and 152 bytes: 71.5
  config.mps = 4096;
  CHECK(next(4096 - 64, 128) == 11);  // 2 * 88
  CHECK(next(4096 - 64, 64) == 6);    // 5.5
  config.mps = 2048;
  CHECK(next(3000, 2000) == 128);  // up to 4096: 1096 + 24 and 904 + 24 bytes
}

TEST_CASE("by address a read is cut at the multiples of MRRS, its answer at those of completions",
          "[pcie][split]") {
  PcieConfig config = plain();
  const auto read = [&](u64 address, u32 bytes) {
    return PcieTlpLink(config, kHertz).read(0, address, bytes);
  };
  config.split = PcieSplit::ByAddress;
  // One request, 1.5 cycles; there at 12, data from 17 on: 2 * 276 bytes, 34.5 cycles.
  CHECK(read(512, 512).next == 2);
  CHECK(read(512, 512).last == 52 + 10);
  // Two requests, 3.0; the same completions, of 256 bytes each.
  CHECK(read(256, 512).next == 3);
  CHECK(read(256, 512).last == 52 + 10);
  // One request; completions of 64 and 64 bytes: 2 * 5.25. As if on a boundary it is one: 9.25.
  CHECK(read(192, 128).first == 23 + 10);
  CHECK(read(192, 128).last == 28 + 10);
  config.split = PcieSplit::BySize;
  CHECK(read(192, 128).last == 27 + 10);
  // The first ends at 64 bytes, the others have 256 from there: 60, 256 and 68 bytes are 80, 276
  // and 88 on the line, 27.75 cycles.
  config.split = PcieSplit::ByAddress, config.first_completion = 64;
  CHECK(read(68, 384).first == 22 + 10);
  CHECK(read(68, 384).last == 45 + 10);
  // 60, 64 and 4 bytes by lines: 80, 84 and 24 on the line, to 22, 27.25 and 28.75.
  config.line_reads = 128;
  CHECK(read(68, 128).first == 22 + 10);
  CHECK(read(68, 128).last == 29 + 10);
}

TEST_CASE("a write waits for the credit of its header", "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_posted_headers = 2, config.credit_latency = 12'000;  // 3 cycles
  PcieTlpLink link(config, kHertz);
  // 256 + 24 bytes take 17.5 cycles. The first leaves from 0 to 17.5, is there at 18 + 10 and in
  // memory; its credit leaves 3 later and is back 10 after that, in 41. The second leaves until 35,
  // there at 45, its credit is back in 58. The third starts with the first credit, not at 35.
  CHECK(link.write(0, 0, 0, 256).memory == 28);
  CHECK(link.write(0, 0, 0, 256).memory == 45);
  CHECK(link.write(0, 0, 0, 256).next == 59);  // 41 + 17.5
  CHECK(link.write(0, 0, 0, 256).next == 76);  // 58.5 + 17.5: its credit is there since 58
  // The fifth: the third was there at 59 + 10, its credit is back in 82.
  CHECK(link.write(0, 0, 0, 256).next == 100);  // 82 + 17.5
}

TEST_CASE("a write waits for the credits of its data, 16 bytes each", "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_posted_data = 20;  // one TLP of 256 bytes takes 16, one of 65 bytes 5
  PcieTlpLink link(config, kHertz);
  // Until 17.5; there at 28, its credits are back in 38.
  CHECK(link.write(0, 0, 0, 256).memory == 28);
  // 64 bytes are 4 credits: they are there. 88 bytes, from 17.5 to 23: there at 33, back in 43.
  CHECK(link.write(0, 0, 0, 64).next == 23);
  // None is left: from 38 on, 88 bytes.
  CHECK(link.write(0, 0, 0, 64).next == 44);  // 43.5
  // 12 of the first are left, and a TLP of 193 bytes needs 13: it waits for 43, when 4 come back,
  // but the line is busy until 43.5. 217 bytes: 57.06.
  CHECK(link.write(0, 0, 0, 193).next == 58);
  PcieTlpLink train(config, kHertz);
  // A write of 512 bytes is two TLPs: the second starts in 38.
  CHECK(train.write(0, 0, 0, 512).next == 56);
}

TEST_CASE("a read behind a write that waits for credits waits too, PCIe lets none pass",
          "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_posted_headers = 1;
  PcieTlpLink link(config, kHertz);
  link.write(0, 0, 0, 256);                    // its credit is back in 38
  CHECK(link.write(0, 0, 0, 256).next == 56);  // 38 + 17.5
  CHECK(link.read(1, 0, 64).memory == 57 + 10);
}

TEST_CASE("a read waits for its credit, and no write with it", "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_nonposted_headers = 1, config.credit_latency = 8'000;  // 2 cycles
  PcieTlpLink link(config, kHertz);
  // The first request has left at 1.5, is there at 12; its credit is back in 12 + 2 + 10. The
  // second leaves with it: 24 + 2.
  CHECK(link.read(0, 0, 64).next == 2);
  CHECK(link.read(0, 0, 64).next == 26);
  // Its time of the line is that of its turn: 3.0. The write follows it, 5.5 cycles.
  CHECK(link.write(4, 4, 0, 64).next == 10);
}

TEST_CASE("a completion waits for the buffer of the HCA", "[pcie][credits]") {
  PcieConfig config = plain();
  config.device_completion_data = 16;
  PcieTlpLink link(config, kHertz);
  // At memory in 12, its data from 17 on: 276 bytes, 17.25 cycles, to 34.25: here in 45. Its 16
  // credits are there again in 55: the second completion leaves until 72.25.
  const auto timing = link.read(0, 0, 512);
  CHECK(timing.first == 45);
  CHECK(timing.last == 83);
  config.device_completion_data = 0, config.device_completion_headers = 1;
  PcieTlpLink headers(config, kHertz);
  CHECK(headers.read(0, 0, 512).last == 83);
}

TEST_CASE("a stream has the rate of its credits: so many in a round trip", "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_posted_data = 64, config.credit_latency = 40'000;  // 10 cycles
  PcieTlpLink link(config, kHertz);
  // Four TLPs of 256 bytes at a time. The first leaves in 17.5 cycles and its credits are back
  // 10 + 10 + 10 after 18: in 48; the line is busy with the other three until 70. The line limits.
  Cycle last = 0;
  for (u32 i = 0; i < 1000; ++i) last = link.write(0, 0, 0, 256).next;
  CHECK(last == 17'500);
  // With two at a time: the first starts in 0, the third in 48, the fifth in 48 + 48: 500 rounds of
  // 48 cycles, in the last of which both leave, 35 cycles.
  config.root_posted_data = 32;
  PcieTlpLink two(config, kHertz);
  for (u32 i = 0; i < 1000; ++i) last = two.write(0, 0, 0, 256).next;
  CHECK(last == 499 * 48 + 35);
}

TEST_CASE("credits are in use from the start of their TLP until they are back", "[pcie][credits]") {
  PcieConfig config = plain();
  config.root_posted_data = 32, config.credit_latency = 40'000;
  PcieTlpLink link(config, kHertz);
  SumOfUse meter;
  link.attach(&meter);
  auto& used = meter.used;
  for (u32 i = 0; i < 1000; ++i) link.write(0, 0, 0, 256);
  // 16 credits of each first of a round for its 48 cycles. The second starts at 17.5, seen in 18,
  // and ends at 35: its credits are back in 65, 47 later. 280 bytes each.
  CHECK(used[PciePart::PostedData] == 500 * 16 * (48 + 47));
  CHECK(used[PciePart::Up] == 1000 * 280);
  CHECK(link.count(PciePart::PostedData) == 32);
  CHECK(link.count(PciePart::PostedHeaders) == 0);
  CHECK(used.count(PciePart::PostedHeaders) == 0);
}

// 24 + 8 bytes up, 8 + 20 down, the tag from 100 to 129 (pcie_link_test).
TEST_CASE("an AtomicOp tells what it takes of the link", "[pcie]") {
  PcieConfig config = plain();
  config.root_nonposted_headers = GENERATE(0u, 17u);  // whole requests, TLP by TLP
  const auto link = make_pcie_link(config, kHertz, 0, true);
  SumOfUse meter;
  link->attach(&meter);
  auto& used = meter.used;
  CHECK(link->atomic(100, 0, 8).last == 129);
  CHECK(used[PciePart::Up] == 24 + 8);
  CHECK(used[PciePart::Down] == 8 + 20);
  CHECK(used[PciePart::Tags] == 29);
}

TEST_CASE("credits that one TLP cannot have are refused", "[pcie][credits]") {
  const auto error_of = [](auto&& change) -> std::string {
    PcieConfig config;
    change(config);
    try {
      PcieTlpLink link(config, kHertz);
    } catch (const engine::ConfigError& e) {
      return e.what();
    }
    return "";
  };
  CHECK(error_of([](PcieConfig& c) { c.root_posted_data = 16; }).empty());
  CHECK(error_of([](PcieConfig& c) { c.root_posted_data = 15; }) ==
        "pcie.root_posted_data: \"15\" is too few for a write of pcie.mps; allowed: 0, or 16 .. "
        "32752");
  CHECK(error_of([](PcieConfig& c) { c.device_completion_data = 15; }) ==
        "pcie.device_completion_data: \"15\" is too few for a completion of "
        "pcie.completion_bytes; allowed: 0, or 16 .. 32752");
  // 8 + 256 bytes: 16.5.
  CHECK_FALSE(error_of([](PcieConfig& c) { c.device_posted_data = 16; }).empty());
  CHECK(error_of([](PcieConfig& c) { c.device_posted_data = 17; }).empty());
}

TEST_CASE("the link that is made is the one that its knobs need", "[pcie]") {
  PcieConfig config = without_limits();
  const auto is_tlps = [&] {
    return dynamic_cast<PcieTlpLink*>(make_pcie_link(config, kHertz).get()) != nullptr;
  };
  CHECK(!is_tlps());
  config.credit_latency = 1000;  // of no credits
  CHECK(!is_tlps());
  config.device_posted_headers = config.device_posted_data = 17;  // the host counts them
  CHECK(!is_tlps());
  for (const auto member :
       {&PcieConfig::root_posted_headers, &PcieConfig::root_posted_data,
        &PcieConfig::root_nonposted_headers, &PcieConfig::device_completion_headers,
        &PcieConfig::device_completion_data}) {
    config.*member = 17;
    CHECK(is_tlps());
    config.*member = 0;
  }
  config.split = PcieSplit::ByAddress;
  CHECK(is_tlps());
  config = without_limits(), config.memory_rate = 1'000'000'000;
  CHECK(is_tlps());
  config = without_limits(), config.iommu_entries = 4;
  CHECK(is_tlps());
  config = without_limits(), config.llc_bytes = 4096;
  CHECK(is_tlps());
  config = without_limits(), config.completion_order = CompletionOrder::ByMemory;
  CHECK(is_tlps());
}
}  // namespace hca::tlm_

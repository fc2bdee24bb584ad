// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <set>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;

namespace {
constexpr u64 kPageBytes = 4096;
constexpr std::array<u64, 2> kPages{kData + 0x200000, kData + 0x100000};
constexpr u64 kDataEnd = kData + 0x300000;

// Two pages, of which the second lies before the first.
void give_pages(Pair::Side& side) {
  proto::Region& region = side.chip.contexts.regions[1];
  region.pages = kPages.data(), region.log_page = 12, region.bytes = 2 * kPageBytes;
}
Message across_pages(proto::WorkOpcode opcode) {
  return {.opcode = opcode, .local = 0x400000, .remote = kPageBytes - 512, .bytes = 1024};
}
// The cycle in which the first answer leaves.
Cycle answer_of(proto::WorkOpcode opcode) {
  Pair pair{PairConfig{}};
  give_pages(pair.b);
  pair.a.host.plan = {across_pages(opcode)};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  return pair.b.sent_frames.at(0).first;
}
}  // namespace

TEST_CASE("one packet lies in two pages", "[chip][MR-5][MR-6]") {
  Pair pair{PairConfig{}};
  give_pages(pair.b);
  pair.a.host.plan = {across_pages(proto::WorkOpcode::RdmaWrite)};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  const u8* sent = pair.data(pair.a, 0x400000);
  CHECK(std::memcmp(sent, &pair.b.memory[kPages[0] + kPageBytes - 512], 512) == 0);
  CHECK(std::memcmp(sent + 512, &pair.b.memory[kPages[1]], 512) == 0);
}

// The region goes in each cycle before the answer in turn. A WRITE that was judged before is
// written as a whole, whatever piece of it is on its way.
TEST_CASE("a region that goes while it is written is written as a whole or not at all",
          "[chip][moments][MR-5][G22.5]") {
  const Cycle answer = answer_of(proto::WorkOpcode::RdmaWrite);
  std::set<bool> seen;
  for (Cycle at = answer - 100; at < answer; ++at) {
    Pair pair{PairConfig{}};
    give_pages(pair.b);
    const std::vector<u8> before(pair.b.memory.begin(), pair.b.memory.begin() + kDataEnd);
    pair.a.host.plan = {across_pages(proto::WorkOpcode::RdmaWrite)};
    pair.advance(at);
    pair.b.chip.contexts.regions[1] = {};
    pair.advance(200);
    std::vector<u8>& after = pair.b.memory;
    const auto wrote = [&](u64 address) {
      return std::memcmp(&before[address], &after[address], 512) != 0;
    };
    const bool first = wrote(kPages[0] + kPageBytes - 512), second = wrote(kPages[1]);
    seen.insert(first);
    CHECK(first == second);
    for (const u64 page : kPages) std::copy_n(&before[page], kPageBytes, &after[page]);
    INFO("gone in cycle " << at);
    CHECK(std::equal(before.begin() + kData, before.end(), after.begin() + kData));
  }
  CHECK(seen == std::set{false, true});
}

TEST_CASE("a region that goes while it is read gives its bytes or zeros",
          "[chip][moments][MR-5][G22.5]") {
  const Cycle answer = answer_of(proto::WorkOpcode::RdmaRead);
  for (Cycle at = answer - 100; at < answer; ++at) {
    Pair pair{PairConfig{}};
    give_pages(pair.b);
    const std::vector<u8> before(pair.data(pair.a, 0x400000), pair.data(pair.a, 0x400000) + 1024);
    pair.a.host.plan = {across_pages(proto::WorkOpcode::RdmaRead)};
    pair.advance(at);
    pair.b.chip.contexts.regions[1] = {};
    pair.advance(400);
    const u8* got = pair.data(pair.a, 0x400000);
    const auto is = [&](u32 half) {
      const u8* page = &pair.b.memory[half ? kPages[1] : kPages[0] + kPageBytes - 512];
      const auto zero = [](u8 byte) { return !byte; };
      return std::memcmp(got + half * 512, page, 512) == 0 ||
             std::memcmp(got + half * 512, before.data() + half * 512, 512) == 0 ||
             std::all_of(got + half * 512, got + half * 512 + 512, zero);
    };
    INFO("gone in cycle " << at);
    CHECK((is(0) && is(1)));
  }
}

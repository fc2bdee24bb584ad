// SPDX-License-Identifier: Apache-2.0
// FLUSH and ATOMIC WRITE in the chip: what comes before what, and when they are answered.
#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WorkOpcode;

namespace {
constexpr u64 kPlace = 0x600000;
struct Seen {
  u64 address;
  u32 bytes;
  bool write;
  Cycle at;
};

PairConfig with_both() {
  PairConfig config;
  config.chip.transport.flush = config.chip.transport.atomic_write = true;
  config.access |= proto::kFlushGlobal | proto::kRemoteAtomicWrite;
  return config;
}
// What B's chip does to [kPlace, kPlace + 64 KiB) of its memory.
std::vector<Seen> accesses_of(Pair& pair) {
  std::vector<Seen> all;
  pair.b.sees = [&](u64 address, u32 bytes, bool write, Cycle at) {
    if (address - (kData + kPlace) < 0x10000) all.push_back({address, bytes, write, at});
  };
  finish(pair);
  return all;
}
}  // namespace

// EXT-19: PCIe keeps a read after the posted writes before it.
TEST_CASE("a FLUSH reads the last byte of its range after all that was written before",
          "[chip][EXT-19]") {
  const u32 bytes = GENERATE(1u, 64u, 5000u);
  Pair pair{with_both()};
  pair.a.host.plan.push_back({.opcode = WorkOpcode::RdmaWrite, .remote = kPlace, .bytes = bytes});
  pair.a.host.plan.push_back({.opcode = WorkOpcode::Flush, .remote = kPlace, .bytes = bytes});
  const std::vector<Seen> all = accesses_of(pair);
  check_success(pair.a.host.sent, 2);
  REQUIRE(all.size() >= 2);
  const Seen& read = all.back();
  CHECK_FALSE(read.write);
  CHECK(read.address == kData + kPlace + bytes - 1);
  CHECK(read.bytes == 1);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    CHECK(all[i].write);
    CHECK(all[i].at < read.at);
  }
  const Cycle answered = pair.b.sent_frames.back().first;
  CHECK(answered > read.at + pair.config.memory_latency);
  CHECK(pair.b.chip.responder_execute.counters.flushes == 1);
}

TEST_CASE("a FLUSH of no bytes reads nothing", "[chip][EXT-16]") {
  Pair pair{with_both()};
  pair.a.host.plan.push_back({.opcode = WorkOpcode::Flush, .remote = kPlace, .bytes = 0});
  CHECK(accesses_of(pair).empty());
  check_success(pair.a.host.sent, 1);
}

TEST_CASE("an ATOMIC WRITE is one write of 8 bytes, and reads nothing", "[chip][EXT-17]") {
  const AtomicBy by = GENERATE(AtomicBy::Device, AtomicBy::Host);
  PairConfig config = with_both();
  config.chip.responder_execute.atomic_by = by;
  Pair pair{config};
  proto::store_le8(pair.data(pair.a, 64), 0x0123456789abcdef);
  pair.a.host.plan.push_back(
      {.opcode = WorkOpcode::AtomicWrite, .local = 64, .remote = kPlace, .bytes = 8});
  const std::vector<Seen> all = accesses_of(pair);
  check_success(pair.a.host.sent, 1);
  REQUIRE(all.size() == 1);
  CHECK(all[0].write);
  CHECK(all[0].bytes == 8);
  CHECK(proto::load_le8(pair.data(pair.b, kPlace)) == 0x0123456789abcdef);
  CHECK(pair.b.chip.responder_execute.counters.atomic_writes == 1);
}

// A response packet has room as that of a READ: one that finds none waits.
TEST_CASE("FLUSHes and ATOMIC WRITEs wait for room among the responses", "[chip][EXT-13][EXT-17]") {
  const u32 responses = GENERATE(1u, 2u, 4u);
  const WorkOpcode opcode = GENERATE(WorkOpcode::Flush, WorkOpcode::AtomicWrite);
  constexpr u32 kMessages = 40;
  PairConfig config = with_both();
  config.qps = 3, config.path_mtu = 4096;
  config.chip.responder_execute.responses = responses;
  config.chip.responder_execute.atomics = 8;
  Pair pair{config};
  for (u32 i = 0; i < kMessages; ++i) {
    pair.a.host.plan.push_back(
        {.opcode = WorkOpcode::RdmaRead, .qpn = 1, .local = 0, .remote = kPlace, .bytes = 20000});
    pair.a.host.plan.push_back(
        {.opcode = opcode, .qpn = 2 + i % 2, .local = 64, .remote = kPlace, .bytes = 8});
  }
  finish(pair);
  check_success(pair.a.host.sent, 2 * kMessages);
}

// ATOM-2: neither write nor value is lost, in whatever moment they meet.
TEST_CASE("no ATOMIC WRITE comes between read and write of an ATOMIC", "[chip][moments][EXT-17]") {
  std::set<u64> left;
  for (const u32 first : {0u, 1u})
    for (Cycle delay = 0; delay < 300; delay += 3) {
      PairConfig config = with_both();
      config.qps = 2, config.chip.responder_execute.atomics = 4;
      Pair pair{config};
      proto::store_le8(pair.data(pair.b, kPlace), 5);
      proto::store_le8(pair.data(pair.a, 64), 100);
      const std::array<Message, 2> both{
          Message{.opcode = WorkOpcode::FetchAdd, .remote = kPlace, .bytes = 8, .operand = 1},
          Message{.opcode = WorkOpcode::AtomicWrite,
                  .qpn = 2,
                  .local = 64,
                  .remote = kPlace,
                  .bytes = 8}};
      const auto post = [&](const Message& m) {
        pair.a.host.plan.push_back(m), pair.a.host.start(2);
      };
      pair.advance(100);
      post(both[first]);
      pair.advance(delay);
      post(both[1 - first]);
      finish(pair);
      check_success(pair.a.host.sent, 2);
      const u64 value = proto::load_le8(pair.data(pair.b, kPlace));
      const u64 found = proto::load_le8(pair.data(pair.a, 0));
      INFO("delay " << delay << ", found " << found);
      CHECK((value == 100 ? found == 5 : value == 101 && found == 100));
      left.insert(value);
    }
  CHECK(left == std::set<u64>{100, 101});
}

// SPDX-License-Identifier: Apache-2.0
// All work requests of RC in random order and size between two chips that lose packets: every byte
// is where it belongs and nowhere else. Each message has memory of its own, so that the result does
// not depend on time.
#include <catch2/catch.hpp>
#include <numeric>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WorkOpcode;

namespace {
constexpr WorkOpcode kOpcodes[] = {WorkOpcode::RdmaWrite,          WorkOpcode::Send,
                                   WorkOpcode::RdmaRead,           WorkOpcode::FetchAdd,
                                   WorkOpcode::RdmaWriteImmediate, WorkOpcode::SendImmediate};
constexpr u64 kOwn = 0, kOther = 0x600000;  // where a side's own messages lie, and its peer's
constexpr u64 kCounter = 0x5ff000;          // FetchAdds of all queue pairs meet there
constexpr u32 kSlot = 0x6000;               // bytes of a message's memory

struct Case {
  u32 path_mtu, qps, loss_per_256;
  bool tight;
};

PairConfig config_of(const Case& c) {
  PairConfig p;
  p.path_mtu = c.path_mtu, p.qps = c.qps, p.timeout = 2, p.cqs = 2;
  p.max_rd_atomic = p.max_dest_rd_atomic = 3;
  if (c.tight) {
    p.chip.packetizer.buffers = 3, p.chip.responder_execute.parking = 2;
    p.chip.responder_execute.responses = 3, p.chip.responder_execute.outcomes = 4;
    p.chip.responder_reply.depth = 1;
  }
  return p;
}

void plan(Pair& pair, const Case& c, u32 messages, u32 seed) {
  for (Pair::Side* side : {&pair.a, &pair.b}) {
    engine::Random random(seed * 2 + (side == &pair.a));
    for (u32 i = 0; i < messages; ++i) {
      Message m;
      m.opcode = kOpcodes[random.below(std::size(kOpcodes))];
      m.qpn = u32(1 + random.below(c.qps));
      m.bytes = u32(random.below(4) ? random.below(3 * c.path_mtu) : random.below(0x5000));
      m.local = kOwn + u64{i} * kSlot, m.remote = kOther + u64{i} * kSlot;
      m.sges = u32(1 + random.below(3)), m.fence = !random.below(8), m.operand = 1;
      m.solicited = random.below(2), m.immediate = i;
      if (m.opcode == WorkOpcode::FetchAdd) m.bytes = 8, m.sges = 1, m.remote = kCounter;
      side->host.plan.push_back(m);
    }
    for (u32 qpn = 1; qpn <= c.qps; ++qpn) side->host.post_receives(qpn, kEntries, 0x6000);
    auto turns = std::make_shared<std::map<u64, u32>>();
    side->loses = [turns, c, seed](const Packet& p) {
      u64 state = u64{p.qpn} << 40 | u64{p.psn} << 8 | (*turns)[u64{p.qpn} << 24 | p.psn]++ % 256;
      state += seed;
      return engine::split_mix(state) % 256 < c.loss_per_256;
    };
  }
}

u64 added(const Pair::Side& side) {
  u64 n = 0;
  for (const Message& m : side.host.plan) n += m.opcode == WorkOpcode::FetchAdd;
  return n;
}

// The bytes of `side`'s messages are where they belong. `before`: of the peer's data region.
void check_bytes(Pair& pair, Pair::Side& side, Pair::Side& peer) {
  std::map<u32, std::vector<const Message*>> sends;  // by queue pair, in their order
  for (const Message& m : side.host.plan) {
    const u8 *near = pair.data(side, m.local), *far = pair.data(peer, m.remote);
    CAPTURE(u32(m.opcode), m.qpn, m.local, m.bytes);
    if (m.opcode == WorkOpcode::FetchAdd) continue;
    if (m.opcode == WorkOpcode::Send || m.opcode == WorkOpcode::SendImmediate)
      sends[m.qpn].push_back(&m);
    else
      CHECK(!std::memcmp(near, far, m.bytes));
  }
  // Receive WQEs are used in the order in which the messages were posted; their CQEs say which one.
  std::map<u32, std::vector<const proto::Cqe*>> taken;
  for (const proto::Cqe& cqe : peer.host.received)
    if (cqe.opcode == proto::CqeOpcode::Receive) taken[cqe.qpn].push_back(&cqe);
  for (const auto& [qpn, list] : sends) {
    REQUIRE(taken[qpn].size() == list.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      const proto::Cqe& cqe = *taken[qpn][i];
      CHECK(cqe.byte_len == list[i]->bytes);
      CHECK(cqe.solicited == list[i]->solicited);
      CHECK(cqe.with_immediate == (list[i]->opcode == WorkOpcode::SendImmediate));
      if (cqe.with_immediate) CHECK(cqe.immediate == list[i]->immediate);
    }
  }
}
}  // namespace

TEST_CASE("random traffic under loss arrives complete", "[chip][random]") {
  const Case c = GENERATE(Case{256, 3, 6, false}, Case{1024, 4, 10, true}, Case{4096, 2, 10, false},
                          Case{512, 1, 20, true}, Case{1024, 8, 0, true}, Case{2048, 3, 10, false});
  const u32 seed = GENERATE(range(1u, 21u));
  CAPTURE(c.path_mtu, c.qps, c.loss_per_256, c.tight, seed);
  Pair pair(config_of(c));
  const u32 messages = 50;
  proto::store_le8(pair.data(pair.a, kCounter), 0),
      proto::store_le8(pair.data(pair.b, kCounter), 0);
  plan(pair, c, messages, seed);
  const bool finished = pair.run();
  INFO(pair.report());
  REQUIRE(finished);
  for (Pair::Side* side : {&pair.a, &pair.b}) {
    Pair::Side& peer = side == &pair.a ? pair.b : pair.a;
    REQUIRE(side->host.sent.size() == messages);
    for (const proto::Cqe& cqe : side->host.sent) CHECK(cqe.status == proto::WcStatus::Success);
    for (const proto::Cqe& cqe : side->host.received) CHECK(cqe.status == proto::WcStatus::Success);
    check_bytes(pair, *side, peer);
    // Each FetchAdd was executed once: the values returned are 0, 1, 2 ... each once.
    CHECK(proto::load_le8(pair.data(peer, kCounter)) == added(*side));
    u64 sum = 0;
    for (const Message& m : side->host.plan)
      if (m.opcode == WorkOpcode::FetchAdd) sum += proto::load_le8(pair.data(*side, m.local));
    CHECK(sum == added(*side) * (added(*side) - 1) / 2);
  }
}

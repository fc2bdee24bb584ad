// SPDX-License-Identifier: Apache-2.0
// A chip with two ports: what each has for itself, and what they share.
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WorkOpcode;

namespace {
// Odd queue pairs are of port 1, even ones of port 2.
PairConfig two_ports(u32 qps) {
  PairConfig c;
  c.chip.core.ports = 2, c.qps = qps, c.timeout = 2;
  return c;
}
Message message(u32 qpn, u32 number, u32 bytes) {
  Message m;
  m.qpn = qpn, m.bytes = bytes;
  m.local = u64{number} * 0x2000, m.remote = 0x400000 + u64{number} * 0x2000;
  return m;
}
// So many WRITEs of each queue pair, in turn.
void plan_writes(Pair& pair, u32 qps, u32 each, u32 bytes) {
  for (u32 i = 0; i < each * qps; ++i) pair.a.host.plan.push_back(message(1 + i % qps, i, bytes));
  pair.a.host.window = 16 * qps;
}
const PortCounters& counters(const Pair::Side& side, unsigned port) {
  return side.chip.ports[port]->receive.counters;
}
bool arrived(Pair& pair) {
  for (const Message& m : pair.a.host.plan)
    if (std::memcmp(pair.data(pair.a, m.local), pair.data(pair.b, m.remote), m.bytes)) return false;
  return true;
}
}  // namespace

TEST_CASE("a queue pair sends and receives through its own port alone", "[chip][ports]") {
  const u32 qpn = GENERATE(1u, 2u);
  Pair pair(two_ports(2));
  for (u32 i = 0; i < 5; ++i) pair.a.host.plan.push_back(message(qpn, i, 1000));
  finish(pair);
  check_success(pair.a.host.sent, 5);
  CHECK(arrived(pair));
  const unsigned own = qpn - 1, other = 1 - own;
  CHECK(counters(pair.a, own).tx_packets == 5);
  CHECK(counters(pair.b, own).rx_packets == 5);
  CHECK(counters(pair.b, own).tx_packets == counters(pair.a, own).rx_packets);
  for (const Pair::Side* side : {&pair.a, &pair.b}) {
    CHECK(counters(*side, other).tx_packets == 0);
    CHECK(counters(*side, other).rx_packets == 0);
    CHECK(side->chip.ports[other]->responder_check.counters.good == 0);
  }
  CHECK(pair.b.chip.ports[own]->responder_check.counters.good == 5);
}

// DROP-1, DROP-4 to DROP-12: a packet that is tied to no queue pair changes a counter and nothing
// else.
TEST_CASE("a packet that comes through another port than its queue pair's is dropped and counted",
          "[chip][ports][DROP-1]") {
  const bool response = GENERATE(false, true);
  PairConfig config = two_ports(2);
  config.timeout = 0;
  Pair pair(config);
  Pair::Side &from = response ? pair.b : pair.a, &to = response ? pair.a : pair.b;
  u32 crossed = 0;
  from.loses = [&](const Packet& p) {  // the first packet takes the other wire
    if (crossed) return false;
    ++crossed;
    const_cast<Packet&>(p).port ^= 1;
    // Its Ethernet destination is that of the port it comes to, so that no earlier check sees it.
    u8* frame = const_cast<u8*>(p.frame());
    frame[5] = u8(frame[5] + 16);
    return false;
  };
  from.marks = [](const Packet&) { return true; };
  pair.a.host.plan = {message(1, 0, 64)};
  const auto state = [&](Pair::Side& side) {
    const device::Contexts& c = side.chip.contexts;
    return std::array<u32, 6>{c.receive_of(1).epsn,        c.receive_of(1).msn,
                              c.receive_of(1).rq_consumed, c.send_of(1).unacked_psn,
                              c.send_of(1).completed,      u32(c.qps[1].state)};
  };
  const auto receiver_before = state(pair.b);
  pair.advance(20'000);
  CHECK(crossed == 1);
  CHECK(counters(to, 1).rx_wrong_port == 1);
  CHECK(counters(to, 0).rx_wrong_port == 0);
  CHECK(counters(to, 1).rx_packets == 1);
  CHECK(pair.a.host.sent.empty());
  CHECK(state(pair.a)[3] == 100);  // no acknowledgement counted
  if (!response) {
    CHECK(state(pair.b) == receiver_before);
    CHECK(counters(pair.b, 0).tx_packets + counters(pair.b, 1).tx_packets == 0);
    CHECK(pair.b.chip.responder_execute.counters.writes == 0);
    CHECK_FALSE(arrived(pair));
  }
  for (unsigned port : {0u, 1u}) {
    CHECK(to.chip.ports[port]->responder_check.counters.good == 0);
    CHECK(to.chip.ports[port]->congestion.counters.marked == 0);  // it draws no CNP either
  }
}

TEST_CASE("queue pairs of both ports get all bytes through with loss on one wire",
          "[chip][ports][integrity]") {
  Pair pair(two_ports(4));
  plan_writes(pair, 4, 24, 5000);
  u32 sent = 0;
  pair.a.loses = [&](const Packet& p) { return p.port == 0 && ++sent % 7 == 0; };
  finish(pair);
  check_success(pair.a.host.sent, 96);
  CHECK(arrived(pair));
  u32 resent[2] = {};
  for (unsigned port : {0u, 1u})
    resent[port] = u32(counters(pair.a, port).tx_packets) - 48 * 5;  // 5 packets of 1024 each
  CHECK(resent[0] > 0);
  CHECK(resent[1] == 0);
}

// 24 x 4096 bytes a queue pair, at 100 Gb/s 31.25 bytes a cycle; the fixture's memory has no limit.
TEST_CASE("two ports carry twice as much as one, and a slow one does not hold up the other",
          "[chip][ports]") {
  const auto cycles = [](u32 qps, u64 second_rate, u32 only = 0) {
    PairConfig config = two_ports(qps);
    config.path_mtu = 4096, config.timeout = 0;
    config.chip.port[1].link_rate = second_rate;
    // A write to memory that begins while its bytes arrive holds up later ones until they did.
    if (second_rate < 100'000'000'000) config.chip.port[1].rx_forward = RxForward::Store;
    Pair pair(config);
    for (u32 i = 0; i < 24 * qps; ++i)
      if (!only || 1 + i % qps == only) pair.a.host.plan.push_back(message(1 + i % qps, i, 4096));
    pair.a.host.window = 1000;
    finish(pair);
    CHECK(arrived(pair));
    std::array<Cycle, 3> last{};
    for (std::size_t i = 0; i < pair.a.host.sent.size(); ++i)
      last[pair.a.host.sent[i].qpn] = pair.a.host.sent_at[i];
    return last;
  };
  const Cycle alone = cycles(2, 100'000'000'000, 1)[1];
  const auto both = cycles(2, 100'000'000'000);
  CHECK(both[1] < alone * 11 / 10);
  CHECK(both[2] < alone * 11 / 10);
  const auto slow = cycles(2, 10'000'000'000);
  CHECK(slow[1] < alone * 11 / 10);
  // 24 frames of 4096 + 58 + 24 bytes at 3.125 bytes a cycle.
  CHECK(slow[2] > 24 * 4178 * 8 / 25);
}

TEST_CASE("where two ports meet they take turns", "[chip][ports]") {
  // One queue pair on port 1, three on port 2: each port gets half of what the chip can do.
  PairConfig config = two_ports(6);
  config.chip.requester.interval = 400;  // slower than any wire
  config.timeout = 0;
  Pair pair(config);
  for (u32 i = 0; i < 120; ++i) {
    const u32 qpn = i < 40 ? 1 : 2 + 2 * (i % 3);
    pair.a.host.plan.push_back(message(qpn, i, 256));
  }
  pair.a.host.window = 1000;
  pair.advance(400 * 60);
  const u64 first = counters(pair.a, 0).tx_packets, second = counters(pair.a, 1).tx_packets;
  CAPTURE(first, second);
  CHECK(first + second > 50);
  CHECK(std::max(first, second) - std::min(first, second) <= 2);
}

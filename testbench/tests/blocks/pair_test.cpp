// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WcStatus;

TEST_CASE("one WRITE goes from doorbell to completion", "[chip][C9-17][G4.1]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.local = 64, .remote = 4096, .bytes = 3079}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(pair.a.host.sent[0].byte_len == 3079);
  CHECK(!std::memcmp(pair.data(pair.a, 64), pair.data(pair.b, 4096), 3079));
  CHECK(pair.a.sent_frames.size() == 4);  // 3 * 1024 + 7
  CHECK(pair.b.sent_frames.size() == 1);  // one ACK, for the last packet
}

TEST_CASE("one SEND is placed by a receive WQE and completes on both sides", "[chip][C9-26]") {
  Pair pair{PairConfig{}};
  pair.b.host.post_receives(1, 4, 4096);
  pair.a.host.plan = {{.opcode = proto::WorkOpcode::Send, .local = 128, .bytes = 2500, .sges = 3}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  check_success(pair.b.host.received, 1);
  CHECK(pair.b.host.received[0].byte_len == 2500);
  CHECK(!std::memcmp(pair.data(pair.a, 128), pair.data(pair.b, 0x800000), 2500));
}

TEST_CASE("a lost packet in the middle draws one NAK and is sent again with all behind it",
          "[chip][SVC-3][G2.3][G11.4]") {
  Pair pair{PairConfig{}};
  bool lost = false;
  pair.a.loses = [&](const Packet& p) { return p.psn == 103 && !std::exchange(lost, true); };
  pair.a.host.plan = {{.local = 0, .remote = 65536, .bytes = 8 * 1024}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(!std::memcmp(pair.data(pair.a, 0), pair.data(pair.b, 65536), 8 * 1024));
  CHECK(pair.a.chip.requester.counters.sequence_naks == 1);
  CHECK(pair.a.chip.requester.counters.resent == 5);  // PSN 103 .. 107
  CHECK(pair.b.chip.ports[0]->responder_check.counters.psn_ahead == 1);
  CHECK(pair.b.chip.ports[0]->responder_check.counters.nak_pending == 3);  // 105 .. 107
}

TEST_CASE("a lost ACK is made good by the timer and the duplicate is acknowledged again",
          "[chip][G11.3][G3.1]") {
  Pair pair{PairConfig{}};
  bool lost = false;
  pair.b.loses = [&](const Packet&) { return !std::exchange(lost, true); };
  pair.a.host.plan = {{.local = 0, .remote = 65536, .bytes = 100}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(pair.a.chip.requester.counters.timeouts == 1);
  CHECK(pair.b.chip.ports[0]->responder_check.counters.duplicate == 1);
  // T = 4.096 us * 2^4 = 65.536 us = 26214.4 cycles of 2.5 ns: the packet is on the wire again no
  // earlier.
  REQUIRE(pair.a.sent_frames.size() == 2);
  CHECK(pair.a.sent_frames[1].first - pair.a.sent_frames[0].first >= 26214);
}

TEST_CASE("retries run out after retry_count repetitions", "[chip][G11.3][C9-214]") {
  PairConfig config;
  config.timeout = 1, config.retry_count = 3;
  Pair pair{config};
  pair.a.loses = [](const Packet&) { return true; };
  pair.a.host.plan = {{.local = 0, .remote = 65536, .bytes = 100},
                      {.local = 0, .remote = 65536, .bytes = 100}};
  finish(pair);
  REQUIRE(pair.a.host.sent.size() == 2);
  CHECK(pair.a.host.sent[0].status == WcStatus::RetryExcErr);
  CHECK(pair.a.host.sent[1].status == WcStatus::WrFlushErr);
  CHECK(pair.a.sent_frames.size() == 2 * (1 + 3));
}

TEST_CASE("a SEND without a receive WQE waits the RNR time and goes through when one is posted",
          "[chip][G8.1][G8.2]") {
  PairConfig config;
  config.min_rnr_timer = 1;  // 10 us = 4000 cycles
  Pair pair{config};
  pair.a.host.plan = {{.opcode = proto::WorkOpcode::Send, .local = 0, .bytes = 300}};
  CHECK_FALSE(pair.run(0, 3000));
  CHECK(pair.a.chip.requester.counters.rnr_naks == 1);
  pair.b.host.post_receives(1, 1, 4096);
  finish(pair);
  check_success(pair.a.host.sent, 1);
  check_success(pair.b.host.received, 1);
  CHECK(pair.a.sent_frames[1].first - pair.a.sent_frames[0].first >= 4000);
}

TEST_CASE("a WRITE beyond its region is refused and both queue pairs are in Error",
          "[chip][T10-5/RC]") {
  Pair pair{PairConfig{}};
  pair.b.host.post_receives(1, 2, 4096);
  pair.a.host.plan = {{.local = 0, .remote = kMemoryBytes - kData - 50, .bytes = 100}};
  finish(pair);
  REQUIRE(pair.a.host.sent.size() == 1);
  CHECK(pair.a.host.sent[0].status == WcStatus::RemAccessErr);
  CHECK(pair.a.chip.contexts.qps[1].state == proto::QpState::Error);
  pair.a.host.plan.push_back(
      {.local = 0, .remote = 0, .bytes = 8});  // to let time pass: it is flushed
  pair.a.host.start(1);
  pair.run(0, pair.cycles + 5000);
  CHECK(pair.b.chip.contexts.qps[1].state == proto::QpState::Error);
  REQUIRE(pair.b.host.received.size() == 2);
  CHECK(pair.b.host.received[0].status == WcStatus::WrFlushErr);
}

TEST_CASE("a first WQE with a bad L_Key completes in error", "[chip][T9-15]") {
  Pair pair{PairConfig{}};
  pair.a.chip.contexts.regions[1].state = proto::KeyState::Free;
  pair.a.host.plan = {{.remote = 4096, .bytes = 64}};
  finish(pair);
  REQUIRE(pair.a.host.sent.size() == 1);
  CHECK(pair.a.host.sent[0].status == WcStatus::LocProtErr);
  CHECK(pair.a.sent_frames.empty());
}

// The host posts in 1, the requester has the WQE in 151 (latency_test.cpp), one cycle later than
// the 8th beat of the command, and requests one of the six pieces a cycle, the last in 157; a
// command rung in 0 takes effect in 152 + latency (command_test.cpp): those of latency 1 to 4 come
// before.
TEST_CASE("a queue pair that is reset while a packet is gathered sends all of it or nothing",
          "[chip][moments][G20.3]") {
  u32 dropped = 0;
  for (Cycle latency = 1; latency < 40; ++latency) {
    PairConfig config;
    config.chip.command.latency = latency;
    Pair pair{config};
    proto::QpAttributes reset{};
    reset.state = proto::QpState::Reset, reset.mask = proto::kQpState;
    pair.a.host.command(0, proto::CommandOpcode::ModifyQp, 1, reset);
    pair.a.host.plan = {{.local = 64, .remote = 4096, .bytes = 600, .sges = 6}};
    pair.advance(2000);
    CAPTURE(latency);
    const std::vector<u8> there(pair.data(pair.b, 4096), pair.data(pair.b, 4096 + 600));
    const bool arrived = !std::memcmp(pair.data(pair.a, 64), there.data(), 600);
    CHECK(arrived == !pair.a.sent_frames.empty());
    CHECK(pair.b.chip.ports[0]->receive.counters.rx_packets == pair.a.sent_frames.size());
    dropped += !arrived;
    CHECK(pair.a.chip.domain.stuck_report().empty());
  }
  CHECK(dropped == 4);
}

// Queue pair 1 reads 60000 bytes, with 20000 cycles to memory and back; 2 posts one pushed WQE with
// its data, which need no read: 0 post, +20 at the BAR, +4 doorbell, +3 qp_scheduler, +2 wqe_fetch,
// +2: 31 requester, +2 context, +2 key, +4, +4 packetizer, +2: 45 port, +5 ICRC, +10: 60 on the
// wire.
TEST_CASE("a pushed WQE with its data waits for no read of another queue pair", "[chip][order]") {
  for (const bool alone : {true, false}) {
    PairConfig config;
    config.qps = 2, config.memory_latency = 10000;
    Pair pair(config);
    Message large{.qpn = 1, .remote = 0x100000, .bytes = 60000},
        small{.qpn = 2, .remote = 0x200000, .bytes = 32, .inline_data = true, .pushed = true};
    if (!alone) pair.a.host.plan.push_back(large);
    pair.a.host.plan.push_back(small);
    finish(pair);
    CHECK(pair.a.sent_frames.at(0).first == pair.a.host.posted_at.back() + (alone ? 60 : 61));
    CHECK(std::memcmp(pair.data(pair.b, 0x200000), pair.data(pair.a, 0), 32) == 0);
  }
}

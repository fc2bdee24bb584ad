// SPDX-License-Identifier: Apache-2.0
// READs and ATOMICs of a queue pair that leaves the states in which it answers.
#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WcStatus;
using proto::WorkOpcode;

namespace {
// B's queue pair 1 gets `state` by a command that is rung in `at`; the cycle of its effect.
Cycle change(Pair& pair, proto::QpState state, Cycle at) {
  pair.advance(at);
  proto::QpAttributes a{};
  a.state = state, a.mask = proto::kQpState;
  pair.b.host.command(0, proto::CommandOpcode::ModifyQp, 1, a);
  return pair.cycles - 1 + 168;  // command_test.cpp
}
}  // namespace

// 64 packets of 1082 + 24 bytes each, 35 cycles apart on the wire: the stream takes 2265 cycles.
TEST_CASE("no response packet of a READ begins when its queue pair has left the states that answer",
          "[chip][T13-Error/inbound-request][T13-Reset/inbound-request][G20.2]") {
  const auto state = GENERATE(proto::QpState::Error, proto::QpState::Reset);
  const u32 reads = GENERATE(1u, 8u);  // one of 64 packets, eight of 8
  CAPTURE(proto::name_of(state), reads);
  PairConfig config;
  config.timeout = 0, config.max_rd_atomic = config.max_dest_rd_atomic = 8;
  Pair pair{config};
  pair.b.host.post_receives(1, 3, 4096);
  for (u32 i = 0; i < reads; ++i)
    pair.a.host.plan.push_back({.opcode = WorkOpcode::RdmaRead,
                                .local = i * 65536,
                                .remote = i * 65536,
                                .bytes = 65536 / reads});
  const Cycle effect = change(pair, state, 800);
  pair.advance(6000);
  INFO(pair.report());
  REQUIRE(!pair.b.sent_frames.empty());
  CHECK(pair.b.sent_frames.size() < 40);
  // A packet that begins at the port is on the wire 5 (ICRC) and 10 (port) cycles later.
  CHECK(pair.b.sent_frames.back().first <= effect + 15);
  CHECK(pair.b.sent_frames.back().first > effect - 35);
  CHECK(pair.b.chip.domain.stuck_report().empty());
  // Error flushes what is posted, Reset forgets it.
  CHECK(pair.b.host.received.size() == (state == proto::QpState::Error ? 3 : 0));
}

TEST_CASE("in Error no ATOMIC begins and no READ that waits", "[chip][G20.2]") {
  PairConfig config;
  config.timeout = 0, config.max_rd_atomic = config.max_dest_rd_atomic = 8;
  Pair pair{config};
  pair.b.host.post_receives(1, 3, 4096);
  proto::store_le8(pair.data(pair.b, 0x100000), 5);
  pair.a.host.plan = {
      {.opcode = WorkOpcode::RdmaRead, .remote = 0, .bytes = 65536},
      {.opcode = WorkOpcode::FetchAdd, .remote = 0x100000, .bytes = 8, .operand = 1},
      {.opcode = WorkOpcode::RdmaRead, .remote = 0, .bytes = 1000}};
  change(pair, proto::QpState::Error, 800);
  pair.advance(6000);
  INFO(pair.report());
  CHECK(proto::load_le8(pair.data(pair.b, 0x100000)) == 5);
  CHECK(pair.b.chip.domain.stuck_report().empty());
  REQUIRE(pair.b.host.received.size() == 3);
  for (const proto::Cqe& cqe : pair.b.host.received) CHECK(cqe.status == WcStatus::WrFlushErr);
}

// The WRITE goes beyond the region: the answers of the READs before it leave, then the NAK.
TEST_CASE("a NAK that takes the queue pair to Error lets the responses in front of it leave",
          "[chip][G7.2][G4.4]") {
  PairConfig config;
  config.timeout = 0;
  Pair pair{config};
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .remote = 0, .bytes = 32 * 1024},
                      {.remote = kMemoryBytes - kData - 50, .bytes = 100}};
  pair.run();
  INFO(pair.report());
  REQUIRE(pair.b.sent_frames.size() == 33);
  CHECK(pair.b.sent_frames.back().second == 132);
  REQUIRE(pair.a.host.sent.size() == 2);
  CHECK(pair.a.host.sent[0].status == WcStatus::Success);
  CHECK(pair.a.host.sent[1].status == WcStatus::RemAccessErr);
}

// Both requests are there long before.
TEST_CASE("a READ begins read_interval behind the one before, whatever else happens", "[chip]") {
  PairConfig config;
  config.qps = 2, config.chip.responder_execute.read_interval = 500;
  Pair pair{config};
  for (u32 qpn = 1; qpn <= 2; ++qpn)
    pair.a.host.plan.push_back({.opcode = WorkOpcode::RdmaRead, .qpn = qpn, .bytes = 64});
  finish(pair);
  REQUIRE(pair.b.sent_frames.size() == 2);
  CHECK(pair.b.sent_frames[1].first - pair.b.sent_frames[0].first == 500);
}

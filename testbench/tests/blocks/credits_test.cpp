// SPDX-License-Identifier: Apache-2.0
// End-to-end credits between two chips.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WorkOpcode;

namespace {
std::set<u32> psns_sent(const Pair::Side& side) {
  std::set<u32> psns;
  for (const auto& [at, psn] : side.sent_frames) psns.insert(psn);
  return psns;
}
Message send(u32 bytes) { return {.opcode = WorkOpcode::Send, .bytes = bytes}; }
}  // namespace

TEST_CASE("a SEND more than one beyond the credits waits for them", "[chip][G6.2][G6.3][G6.5]") {
  const bool credits = GENERATE(true, false);
  PairConfig config;
  config.chip.transport.credits = credits;
  config.min_rnr_timer = 5;  // 60 us = 24000 cycles
  Pair pair{config};
  pair.b.host.post_receives(1, 2, 4096);
  pair.a.host.plan = {send(64)};
  REQUIRE(pair.run());
  // The ACK of message 1 says that one receive WQE is free: LSN = 1 + 1. Message 2 may go, message
  // 3 is the one just beyond, 4 and 5 wait. Code 31 holds nothing back.
  for (int i = 0; i < 4; ++i) pair.a.host.plan.push_back(send(64));
  pair.a.host.start(1);
  pair.advance(10'000);
  CHECK(psns_sent(pair.a) ==
        (credits ? std::set<u32>{100, 101, 102} : std::set<u32>{100, 101, 102, 103, 104}));
  CHECK(pair.b.chip.responder_reply.counters.rnr_naks == 1);
  pair.b.host.post_receives(1, 8, 4096);
  const bool finished = pair.run();
  INFO(pair.report());
  REQUIRE(finished);
  CHECK(pair.b.host.received.size() == 5);
  for (const proto::Cqe& cqe : pair.a.host.sent) CHECK(cqe.status == proto::WcStatus::Success);
}

TEST_CASE("READs and WRITEs need no credit and move the limit on", "[chip][G6.3]") {
  PairConfig config;
  config.min_rnr_timer = 5;
  Pair pair{config};
  pair.b.host.post_receives(1, 2, 4096);
  pair.a.host.plan = {send(64)};
  REQUIRE(pair.run());
  // LSN = 2. A WRITE and a READ take SSN 2 and 3 and raise it to 4: the SENDs of SSN 4 and 5 may
  // go, the latter as the one beyond, the SEND of SSN 6 waits.
  pair.a.host.plan.push_back({.remote = 4096, .bytes = 64});
  pair.a.host.plan.push_back(
      {.opcode = WorkOpcode::RdmaRead, .local = 8192, .remote = 4096, .bytes = 64});
  for (int i = 0; i < 3; ++i) pair.a.host.plan.push_back(send(64));
  pair.a.host.start(1);
  pair.advance(10'000);
  CHECK(psns_sent(pair.a) == std::set<u32>{100, 101, 102, 103, 104});
  pair.b.host.post_receives(1, 8, 4096);
  REQUIRE(pair.run());
  CHECK(pair.b.host.received.size() == 4);
}

// SEND 1 takes the only receive WQE: its ACK says MSN 1 and no credit, LSN = 1. Four are posted:
// the same PSN again with MSN 1 and code 4, LSN = 5. Nothing of B arrives after that, so that the
// limit stays: of seven SENDs more those of SSN 2 to 5 go, and 6 as the one beyond: PSN 101 to 105.
TEST_CASE("receive WQEs posted after \"no credits\" are told by an ACK of their own",
          "[chip][G6.6][C9-217]") {
  const bool credits = GENERATE(true, false);
  PairConfig config;
  config.chip.transport.credits = credits;
  config.min_rnr_timer = 5;
  Pair pair{config};
  pair.b.host.post_receives(1, 1, 4096);
  pair.a.host.plan = {send(64)};
  REQUIRE(pair.run());
  REQUIRE(pair.b.sent_frames.size() == 1);
  pair.b.host.post_receives(1, 4, 4096);
  pair.b.host.post_receives(1, 4, 4096);  // no message reports these: 4 are known
  pair.advance(1000);
  CHECK(pair.b.sent_frames.size() == (credits ? 2 : 1));
  CHECK(pair.b.sent_frames.back().second == 100);
  CHECK(pair.b.chip.responder_execute.counters.credit_updates == credits);
  pair.b.loses = [](const Packet&) { return true; };
  for (int i = 0; i < 7; ++i) pair.a.host.plan.push_back(send(64));
  pair.a.host.start(1);
  pair.advance(4000);
  std::set<u32> wanted{100, 101, 102, 103, 104, 105};
  if (!credits) wanted.insert({106, 107});
  CHECK(psns_sent(pair.a) == wanted);
}

TEST_CASE("without \"no credits\" before it a post is not told", "[chip][G6.6]") {
  Pair pair{PairConfig{}};
  pair.b.host.post_receives(1, 2, 4096);  // nothing was acknowledged before
  pair.a.host.plan = {send(64)};
  REQUIRE(pair.run());
  pair.b.host.post_receives(1, 4, 4096);  // one was free
  pair.advance(1000);
  CHECK(pair.b.sent_frames.size() == 1);
}

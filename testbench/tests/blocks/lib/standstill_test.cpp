// SPDX-License-Identifier: Apache-2.0
// The report of a chip on a queue pair that stands still.
#include "model/blocks/lib/standstill.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using Catch::Matchers::StartsWith;
using proto::WorkOpcode;

namespace {
constexpr u32 kQp = 1;
Message read(u32 bytes) {
  return {.opcode = WorkOpcode::RdmaRead, .local = 8192, .remote = 4096, .bytes = bytes};
}
}  // namespace

TEST_CASE("a queue pair that is done or waits for its peer stands still for no block's sake",
          "[chip]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.remote = 4096, .bytes = 64}};
  finish(pair);
  CHECK(pair.a.chip.standstill(kQp, 1).empty());
  CHECK(pair.b.chip.standstill(kQp, 0).empty());
  pair.a.loses = [](const Packet&) { return true; };
  pair.config.timeout = 0;
  pair.a.host.plan.push_back({.remote = 4096, .bytes = 64});
  pair.a.host.start(1);
  pair.advance(1000);
  CHECK(pair.a.chip.standstill(kQp, 2).empty());
  CHECK(pair.a.chip.standstill(77, 2).empty());  // there is none
}

TEST_CASE("a queue pair that gets no turn names qp_scheduler", "[chip]") {
  Pair pair{PairConfig{}};
  // Turns that are never released.
  for (u32 i = 0; i < pair.config.chip.qp_scheduler.slots; ++i)
    pair.a.chip.qp_scheduler.turns.take();
  pair.a.host.plan = {{.remote = 4096, .bytes = 64}};
  pair.a.host.start(1);
  pair.advance(1000);
  CHECK_THAT(pair.a.chip.standstill(kQp, 1), StartsWith("qp_scheduler: it is ready"));
}

TEST_CASE("a doorbell that has not come is named", "[chip]") {
  Pair pair{PairConfig{}};
  pair.a.host.start(1);
  pair.advance(100);
  CHECK_THAT(pair.a.chip.standstill(kQp, 1), StartsWith("doorbell: "));
}

TEST_CASE("a SEND without credits names the peer, one behind its fence the data", "[chip]") {
  PairConfig config;
  config.timeout = 31;  // hours
  Pair pair{config};
  pair.b.host.post_receives(1, 1, 4096);
  pair.a.host.plan = {{.opcode = WorkOpcode::Send, .bytes = 64}};
  REQUIRE(pair.run());
  // None is free: the limit is SSN 1, the one just beyond goes and waits for RNR; the peer's answer
  // to it is lost.
  pair.b.loses = [](const Packet&) { return true; };
  for (int i = 0; i < 2; ++i) pair.a.host.plan.push_back({.opcode = WorkOpcode::Send, .bytes = 64});
  pair.a.host.start(1);
  pair.advance(2000);
  proto::SendState& s = pair.a.chip.contexts.send_of(kQp);
  REQUIRE(s.started == 2);
  CHECK(pair.a.chip.standstill(kQp, 3).empty());  // its answer
  s.unacked_psn = s.sent_psn;                     // as if that had come without credits
  CHECK_THAT(pair.a.chip.standstill(kQp, 3), StartsWith("peer: "));

  Pair fenced{config};
  fenced.b.loses = [](const Packet&) { return true; };
  fenced.a.host.plan = {read(64), {.remote = 4096, .bytes = 64, .fence = true}};
  fenced.a.host.start(1);
  fenced.advance(2000);
  proto::SendState& waits = fenced.a.chip.contexts.send_of(kQp);
  REQUIRE(waits.started == 1);
  waits.unacked_psn = waits.sent_psn;  // as if the READ were answered, and its data not written
  CHECK_THAT(fenced.a.chip.standstill(kQp, 2),
             StartsWith("requester: its next WQE waits for the data"));
}

TEST_CASE("each place where a work request may be left has a block", "[chip]") {
  proto::QpConfig qp;
  qp.state = proto::QpState::Rts;
  proto::SendState s;
  SchedulerHold scheduler{.posted = 4, .fetch = 4, .turns = 0, .turns_at_most = 2};
  RequesterHold requester;
  const auto says = [&](const char* beginning) {
    CHECK_THAT(send_standstill(qp, s, 4, scheduler, requester), StartsWith(beginning));
  };
  says("requester: its WQEs were fetched, but neither begun");
  s.started = 4;
  says("requester: its messages are answered but not completed");
  s.started = 0, scheduler.fetch = 2;
  says("qp_scheduler: it has WQEs to fetch, but is not in the ready list");
  scheduler.turns = 1;
  says("wqe_fetch: ");
  scheduler.paused = true;
  says("requester: has stopped it");
  s.waits_rnr = true;
  says("requester: waits the time that an RNR NAK named, without");
  requester.timer_runs = true;
  says("requester: waits the time that an RNR NAK named, with a");
  s.waits_rnr = false, requester.has_wqe = true;
  says("requester: has its next WQE and waits for nothing");
  qp.state = proto::QpState::Sqd;
  says("host: in SQD");
  requester.listed = true;
  says("requester: it is in the ready list");
  requester.waits_local = true;
  says("command: ");
  requester.failing = true;
  says("requester: a work request has failed");
  s.completed = s.started = 4;
  CHECK(send_standstill(qp, s, 4, scheduler, requester).empty());
}

TEST_CASE("a packet that waits for a receive WQE names it", "[chip]") {
  CHECK(receive_standstill({}).empty());
  ResponderHold r{.parked = 2, .psn = 360, .wqe = 17};
  CHECK(receive_standstill(r) ==
        "responder_execute: 2 packets wait, the first has PSN 360 and needs receive WQE 17, which "
        "nobody has requested");
  r.reading = true;
  CHECK_THAT(receive_standstill(r), Catch::Matchers::EndsWith("which dma has to read"));
  CHECK(receive_standstill({.has_answer = true, .answer_waits = true, .answer_psn = 7}) ==
        "responder_execute: PSN 7 is not answered: its data are not in memory, look at dma");
}

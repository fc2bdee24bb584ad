// SPDX-License-Identifier: Apache-2.0
// SQD, asynchronous events and interrupts of two chips.
#include <catch2/catch.hpp>

#include "model/device/execute_command.h"
#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using namespace hca::proto;

namespace {
constexpr u64 kMessage = kEqs + 0x8000;
constexpr u32 kAnswerSlot = 15;

// EQ 0 with vector 0, armed.
void open_events(Pair::Side& side) {
  device::Contexts& c = side.chip.contexts;
  u8 block[kCommandBytes] = {};
  encode(CommandHeader{CommandOpcode::CreateEq, {}, false, kAsyncEq}, block);
  encode(QueueAttributes{.address = kEqs + 0x4000, .log_entries = 4}, block + kCommandHeaderBytes);
  execute_command(c, block);
  c.eqs[kAsyncEq].armed = Arm::Next;
  c.vectors[0] = {kMessage, 0x01020304, false};
}
std::vector<std::pair<EventType, u32>> events(Pair::Side& side) {
  std::vector<std::pair<EventType, u32>> all;
  for (u64 at = kEqs + 0x4000;; at += kEqeBytes) {
    const Aeqe e = decode_aeqe(&side.memory[at]);
    if (!e.valid) return all;
    all.emplace_back(async_event_of_code(e.code)->type, e.object());
  }
}
// What the chip wrote before the data, in its order: Q a CQE, E an EQE, M a message.
std::string order(const Pair::Side& side) {
  std::string text;
  for (const auto& [at, address] : side.control_writes)
    if (address >= kCqs)
      text += 'Q';
    else if (address == kMessage)
      text += 'M';
    else if (address >= kEqs && address < kCommands)
      text += 'E';
  return text;
}
void modify(Pair& pair, Pair::Side& side, u32 slot, QpState state, u32 mask = 0) {
  QpAttributes a{};
  a.state = state, a.mask = kQpState | mask, a.sqd_notify = SqdNotify::Drained;
  side.host.command(slot, CommandOpcode::ModifyQp, 1, a);
  pair.advance(2000);
  const auto header = decode<CommandHeader>(&side.memory[kCommands + slot * kCommandBytes]);
  REQUIRE(header.done);
  REQUIRE(header.status == CommandStatus::Ok);
}
QpAttributes query(Pair& pair, Pair::Side& side) {
  side.host.command(kAnswerSlot, CommandOpcode::QueryQp, 1, QpAttributes{});
  pair.advance(2000);
  return decode<QpAttributes>(
      &side.memory[kCommands + kAnswerSlot * kCommandBytes + kCommandHeaderBytes]);
}
}  // namespace

TEST_CASE("in SQD the chip finishes what is begun, tells it behind the CQEs, holds the rest",
          "[chip][G20.1][T13-SQD/send-queue][T15-SQ_DRAINED]") {
  const bool notify = GENERATE(true, false);
  CAPTURE(notify);
  Pair pair{PairConfig{}};
  open_events(pair.a);
  for (u32 i = 0; i < 12; ++i)
    pair.a.host.plan.push_back({.local = i * 65536, .remote = i * 65536, .bytes = 60000});
  pair.advance(1500);  // one WRITE takes 60000 bytes / (31.25 bytes a cycle) = 1920 cycles
  modify(pair, pair.a, 0, QpState::Sqd, notify ? u32{kQpSqdNotify} : 0);
  pair.advance(30000);
  const QpAttributes held = query(pair, pair.a);
  CHECK(held.state == QpState::Sqd);
  CHECK_FALSE(held.sq_draining);
  CHECK(held.sq_posted == held.sq_completed);
  CHECK(held.sq_posted > 0);
  CHECK(held.sq_posted < 12);
  CHECK(pair.a.host.sent.size() == held.sq_completed);
  if (notify) {
    CHECK(events(pair.a) == std::vector<std::pair<EventType, u32>>{{EventType::SqDrained, 1}});
    CHECK(order(pair.a) == std::string(held.sq_completed, 'Q') + "EM");
  } else {
    CHECK(events(pair.a).empty());
  }
  modify(pair, pair.a, 1, QpState::Rts);
  const bool finished = pair.run();
  INFO(pair.report());
  REQUIRE(finished);
  CHECK(pair.a.host.sent.size() == 12);
  for (const Cqe& cqe : pair.a.host.sent) CHECK(cqe.status == WcStatus::Success);
  CHECK(events(pair.a).size() == notify);
}

TEST_CASE("a queue pair without work is drained at once, in the chip", "[chip][T15-SQ_DRAINED]") {
  Pair pair{PairConfig{}};
  open_events(pair.a);
  modify(pair, pair.a, 0, QpState::Sqd, kQpSqdNotify);
  CHECK(order(pair.a) == "EM");
  CHECK(events(pair.a) == std::vector<std::pair<EventType, u32>>{{EventType::SqDrained, 1}});
}

TEST_CASE("what SQD holds is flushed by Error", "[chip][G20.2]") {
  Pair pair{PairConfig{}};
  modify(pair, pair.a, 0, QpState::Sqd);
  pair.a.host.plan = {{.bytes = 8}, {.bytes = 8}};
  pair.a.host.cqe_written();  // so that it looks at its plan
  pair.advance(3000);
  CHECK(pair.a.host.sent.empty());
  modify(pair, pair.a, 1, QpState::Error);
  REQUIRE(pair.a.host.sent.size() == 2);
  for (const Cqe& cqe : pair.a.host.sent) CHECK(cqe.status == WcStatus::WrFlushErr);
}

TEST_CASE("the first packet in RTR raises COMM_EST in the chip, once", "[chip][T15-COMM_EST]") {
  const bool rtr = GENERATE(true, false);
  Pair pair{PairConfig{}};
  open_events(pair.b);
  if (rtr) pair.b.chip.contexts.qps[1].state = QpState::Rtr;
  pair.a.host.plan = {{.bytes = 5000}, {.bytes = 8}};
  REQUIRE(pair.run());
  pair.advance(2000);
  CHECK(events(pair.b).size() == rtr);
  if (rtr) CHECK(events(pair.b)[0] == std::pair{EventType::CommEst, 1u});
}

TEST_CASE("a full CQ raises CQ_ERR for itself and QP_FATAL for its queue pair, in the chip",
          "[chip][G21.3][T15-CQ_ERR][T15-QP_FATAL]") {
  Pair pair{PairConfig{}};
  open_events(pair.a);
  device::EventRing& cq = pair.a.chip.contexts.cqs[1];
  cq.consumer = cq.producer - cq.entries();
  pair.a.host.plan = {{.bytes = 8}, {.bytes = 8}};
  pair.run();
  pair.advance(2000);
  CHECK(events(pair.a) ==
        std::vector<std::pair<EventType, u32>>{{EventType::CqErr, 1}, {EventType::QpFatal, 1}});
  CHECK(pair.a.host.sent.empty());
  CHECK(query(pair, pair.a).state == QpState::Error);
}

TEST_CASE("a chip writes CQE, EQE and interrupt message in this order", "[chip][G30.4]") {
  PairConfig config;
  config.armed = true;  // the CQ, which names EQ 1
  Pair pair{config};
  device::Contexts& c = pair.a.chip.contexts;
  c.eqs[1].armed = Arm::Next, c.eqs[1].vector = 7;
  c.vectors[7] = {kMessage, 0x01020304, false};
  pair.a.host.plan = {{.bytes = 8}};
  REQUIRE(pair.run());
  pair.advance(2000);
  CHECK(order(pair.a) == "QEM");
  CHECK(std::vector<u8>(&pair.a.memory[kMessage], &pair.a.memory[kMessage + 4]) ==
        std::vector<u8>{4, 3, 2, 1});
  CHECK(c.eqs[1].armed == Arm::None);
}

// A refused READ leaves the expected PSN and MSN where they were.
TEST_CASE("a request that fails does not count", "[chip][G5.3]") {
  PairConfig config;
  config.access = kRemoteWrite;
  Pair pair{config};
  open_events(pair.b);
  pair.a.host.plan = {{.bytes = 3000}, {.opcode = WorkOpcode::RdmaRead, .bytes = 8}, {.bytes = 8}};
  pair.run();
  pair.advance(5000);
  CHECK(events(pair.b) == std::vector<std::pair<EventType, u32>>{{EventType::QpReqErr, 1}});
  const QpAttributes q = query(pair, pair.b);
  CHECK(q.state == QpState::Error);
  CHECK(q.rq_psn == 103);  // 100 and 2 more
  CHECK(q.msn == 1);
}

// A change in n goes to `event` in n + 1, which sees it in n + 2 and requests `dma` 2 cycles later:
// its EQE is in memory 60 cycles after that.
TEST_CASE("a cable that breaks takes its port Down in its cycle, with an event each time",
          "[chip][T15-PORT_ACTIVE]") {
  Pair pair{PairConfig{}};
  open_events(pair.a);
  engine::Mailbox<CableChange>& cables = pair.a.chip.command.cables_in;
  cables.deliver(1000, 0, {1, true}), cables.deliver(3000, 0, {1, false});
  cables.deliver(4000, 0, {1, true}), cables.deliver(4001, 0, {1, false});
  const auto state_before = [&](Cycle cycle) {
    pair.a.chip.domain.run_until(cycle);
    return pair.a.chip.contexts.ports[0].state;
  };
  CHECK(state_before(1000) == PortState::Active);
  CHECK(state_before(1001) == PortState::Down);
  CHECK(state_before(3000) == PortState::Down);
  CHECK(state_before(3001) == PortState::Active);
  CHECK(state_before(4001) == PortState::Down);
  CHECK(state_before(4002) == PortState::Active);
  pair.a.chip.domain.run_until(5000);
  CHECK(events(pair.a) == std::vector<std::pair<EventType, u32>>{{EventType::PortErr, 1},
                                                                 {EventType::PortActive, 1},
                                                                 {EventType::PortErr, 1},
                                                                 {EventType::PortActive, 1}});
  CHECK(pair.a.writes_to(kEqs + 0x4000, 4 * kEqeBytes) ==
        std::vector<Cycle>{1064, 3064, 4064, 4065});
}

// The interrupt message of the first EQE is between them.
TEST_CASE("two cables that break at once take their ports Down one cycle after the other",
          "[chip][T15-PORT_ACTIVE]") {
  PairConfig config;
  config.chip.core.ports = 2;
  Pair pair{config};
  open_events(pair.a);
  for (const u32 port : {2u, 1u}) pair.a.chip.command.cables_in.deliver(1000, port, {port, true});
  pair.a.chip.domain.run_until(2000);
  CHECK(events(pair.a) ==
        std::vector<std::pair<EventType, u32>>{{EventType::PortErr, 1}, {EventType::PortErr, 2}});
  CHECK(pair.a.writes_to(kEqs + 0x4000, 2 * kEqeBytes) == std::vector<Cycle>{1064, 1066});
}

// One a cycle, and the interrupt message of the first EQE after that.
TEST_CASE("the events of a port that changes in several ways follow each other", "[chip]") {
  Pair pair{PairConfig{}};
  open_events(pair.a);
  PortAttributes port = pair.a.chip.contexts.ports[0];
  port.lid += 1, port.sm_lid += 1, port.reregister = true;
  pair.a.host.command(0, CommandOpcode::SetPort, 1, port);
  pair.advance(2000);
  CHECK(events(pair.a) == std::vector<std::pair<EventType, u32>>{{EventType::LidChange, 1},
                                                                 {EventType::SmChange, 1},
                                                                 {EventType::ClientReregister, 1}});
  const std::vector<Cycle> written = pair.a.writes_to(kEqs + 0x4000, 3 * kEqeBytes);
  REQUIRE(written.size() == 3);
  CHECK(written[1] == written[0] + 2);
  CHECK(written[2] == written[0] + 3);
}

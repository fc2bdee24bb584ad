// SPDX-License-Identifier: Apache-2.0
// Moderation of completion events, as ibv_modify_cq has it: verbs and host memory alone.
#include <catch2/catch.hpp>

#include "testbench/replay/replay_runners.h"
#include "testbench/tests/system/both_models/loop.h"

namespace hca::testbench {
using namespace proto;

namespace {
// A queue pair whose receives complete into a CQ with an event queue; no timer but moderation runs.
struct Moderated {
  explicit Moderated(const ReplayRunner& runner, ModerateCq moderate) : loop(runner) {
    channel = loop.verbs.create_comp_channel();
    loop.recv_cq = loop.verbs.create_cq(32, channel);
    ends = loop.connect({.timeout = 0});
    REQUIRE(loop.verbs.modify_cq(*loop.recv_cq, moderate) == Error::None);
  }
  // One message each.
  void receive(u32 count, bool solicited = false) {
    for (u32 i = 0; i < count; ++i) {
      REQUIRE(loop.post_receive(ends, 1, 8) == Error::None);
      const SgeList sge = loop.sge(0, 8);
      const SendWr wr{.wr_id = 2,
                      .sg_list = {&sge, 1},
                      .send_flags = kSignaled | (solicited ? u32{kSolicited} : 0)};
      REQUIRE(loop.verbs.post_send(*ends.from, wr) == Error::None);
      loop.carry();
      REQUIRE(loop.poll(loop.send_cq) == Loop::Results{{2, WcStatus::Success}});
    }
  }
  void arm(bool solicited_only = false) {
    loop.verbs.req_notify_cq(*loop.recv_cq, solicited_only);
    loop.device->run();
  }
  u32 poll() { return u32(loop.poll(loop.recv_cq).size()); }
  u32 events() {
    u32 found = 0;
    while (loop.verbs.get_cq_event(*channel)) ++found;
    loop.device->run();
    return found;
  }
  void pass(u64 nanoseconds) { loop.device->advance(nanoseconds), loop.device->run(); }

  Loop loop;
  CompChannel* channel = nullptr;
  Loop::Ends ends;
};
}  // namespace

TEST_CASE("with a count of 4, each fourth CQE raises an event", "[both models][G21.2]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 4});
  for (u32 turn = 0; turn < 3; ++turn) {
    m.arm(), m.receive(3);
    CHECK(m.events() == 0);
    m.pass(10'000'000);  // without a period no time helps
    CHECK(m.events() == 0);
    m.receive(1);
    CHECK(m.events() == 1);
    m.receive(5);
    CHECK(m.events() == 0);  // one event an arming
    CHECK(m.poll() == 9);
  }
}

// The times of the writes of CQE and EQE, with a period and without: the difference is the period.
TEST_CASE("a period of 3 us puts the event off by 3 us, to the nanosecond",
          "[both models][G21.2]") {
  const ReplayRunner& runner = replay_runners()[GENERATE(0u, 1u)];
  const u32 cqes = GENERATE(1u, 2u);
  CAPTURE(runner.name, cqes);
  const auto delay_of = [&](ModerateCq moderate) {
    Moderated m(runner, moderate);
    std::vector<u64> cqe, eqe;
    ReplayDevice& device = *m.loop.device;
    const auto log = [&](u64 address, u64 bytes, std::vector<u64>& times) {
      device.memory().watch(address, bytes, [&](u64, u64) { times.push_back(device.now()); });
    };
    log(m.loop.recv_cq->address, m.loop.recv_cq->entries() * kCqeBytes, cqe);
    log(m.channel->address, m.channel->entries() * kEqeBytes, eqe);
    m.arm(), m.receive(cqes);
    if (moderate.cq_period) {
      CHECK(eqe.empty());
      m.pass(moderate.cq_period * 1000u + 1000);
    }
    REQUIRE(cqe.size() == cqes);
    REQUIRE(eqe.size() == 1);
    return eqe[0] - cqe[0];
  };
  const u64 at_once = delay_of({});
  if (runner.name == "functional") CHECK(at_once == 0);
  CHECK(delay_of({.cq_count = 3, .cq_period = 3}) == at_once + 3000);
  CHECK(delay_of({.cq_period = 4}) == at_once + 4000);
  CHECK(delay_of({.cq_count = 1, .cq_period = 0}) == at_once);
}

TEST_CASE("a solicited CQE or one in error has its event at once when it is armed for",
          "[both models][G21.2]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 8, .cq_period = 1000});
  m.arm(true), m.receive(2);
  CHECK(m.events() == 0);
  m.receive(1, true);
  CHECK(m.events() == 1);
  CHECK(m.poll() == 3);
  // Armed for any, a solicited one waits like the others.
  m.arm(), m.receive(1, true);
  CHECK(m.events() == 0);
  m.pass(1'000'100);
  CHECK(m.events() == 1);
  CHECK(m.poll() == 1);
  m.arm(true);
  REQUIRE(m.loop.post_receive(m.ends, 1, 8) == Error::None);
  m.loop.device->run();
  QpAttributes to_error{};
  to_error.mask = kQpState, to_error.state = QpState::Error;
  REQUIRE(m.loop.verbs.modify_qp(*m.ends.to, to_error) == Error::None);
  m.loop.device->run();
  CHECK(m.events() == 1);
  CHECK(m.loop.poll(m.loop.recv_cq) == Loop::Results{{1, WcStatus::WrFlushErr}});
}

// CQEs that come between the last look and the arming are not forgotten, and a poll after it takes
// their event away.
TEST_CASE("armed with CQEs that are not taken, the period begins with the arming",
          "[both models][G21.2]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 4, .cq_period = 10});
  m.receive(2);
  m.pass(20'000);
  m.arm();
  CHECK(m.events() == 0);
  m.pass(9'000);
  CHECK(m.events() == 0);
  m.pass(1'500);
  CHECK(m.events() == 1);
  m.receive(2);
  m.arm();  // 4 of them
  CHECK(m.events() == 1);
  m.arm();
  CHECK(m.events() == 1);
  CHECK(m.poll() == 4);
  m.arm();
  m.pass(20'000);
  CHECK(m.events() == 0);
}

TEST_CASE("moderation that is taken away lets the event go", "[both models][G21.2]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 4});
  m.arm(), m.receive(3);
  CHECK(m.events() == 0);
  const bool off = GENERATE(true, false);
  const ModerateCq lower{.cq_count = u16(off ? 0 : 3)};
  REQUIRE(m.loop.verbs.modify_cq(*m.loop.recv_cq, lower) == Error::None);
  m.loop.device->run();
  CHECK(m.events() == 1);
  CHECK(m.poll() == 3);
}

TEST_CASE("moderation is kept by a CQ that gets a new ring, and told", "[both models][CQ-20]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 3, .cq_period = 65535});
  m.arm(), m.receive(2);
  REQUIRE(m.loop.verbs.resize_cq(*m.loop.recv_cq, 256) == Error::None);
  const QueueAttributes told = m.loop.verbs.query_cq(*m.loop.recv_cq);
  CHECK(told.event_count == 3);
  CHECK(told.event_period == 65535);
  CHECK(told.log_entries == 8);
  CHECK(m.events() == 0);
  m.receive(1);
  CHECK(m.events() == 1);
  CHECK(m.poll() == 3);
}

TEST_CASE("what moderation cannot do is refused and changes nothing", "[both models][CQ-20]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 16, .cq_period = 7});
  const u32 cqn = m.loop.recv_cq->cqn;
  const auto status_of = [&](CommandOpcode opcode, u32 object, const QueueAttributes& a) {
    return m.loop.command(opcode, object, a);
  };
  const u16 entries = u16(m.loop.recv_cq->entries());
  REQUIRE(entries == 64);
  CHECK(m.loop.verbs.modify_cq(*m.loop.recv_cq, {.cq_count = u16(entries + 1)}) == Error::Invalid);
  CHECK(m.loop.verbs.last_status() == CommandStatus::BadValue);
  const u64 ring = m.loop.verbs.alloc(4096);
  // A ring too small for the count that is set; a bit that means nothing.
  CHECK(status_of(CommandOpcode::ModifyCq, cqn,
                  {.address = ring, .log_entries = 3, .mask = kCqRing}) == CommandStatus::BadValue);
  CHECK(status_of(CommandOpcode::ModifyCq, cqn, {.mask = 4}) == CommandStatus::BadValue);
  CHECK(status_of(CommandOpcode::ModifyCq, 999, {.mask = kCqModeration}) ==
        CommandStatus::BadObject);
  CHECK(status_of(CommandOpcode::CreateCq, 50,
                  {.address = ring, .log_entries = 4, .event_count = 17}) ==
        CommandStatus::BadValue);
  CHECK(status_of(CommandOpcode::CreateEq, 9,
                  {.address = ring, .log_entries = 4, .event_period = 1}) ==
        CommandStatus::BadValue);
  const QueueAttributes told = m.loop.verbs.query_cq(*m.loop.recv_cq);
  CHECK(told.event_count == 16);
  CHECK(told.event_period == 7);
  CHECK(told.log_entries == 6);
  // As many as there are entries: the last one raises it. Both at once, smaller.
  CHECK(m.loop.verbs.modify_cq(*m.loop.recv_cq, {.cq_count = entries}) == Error::None);
  CHECK(status_of(CommandOpcode::CreateCq, 51,
                  {.address = ring, .log_entries = 4, .event_count = 16, .event_period = 9}) ==
        CommandStatus::Ok);
}

// A CQ that goes takes its period along: another of its number has nothing of it.
TEST_CASE("a destroyed CQ leaves no period behind", "[both models][CQ-20]") {
  Moderated m(replay_runners()[GENERATE(0u, 1u)], {.cq_count = 0, .cq_period = 20});
  m.arm(), m.receive(1);
  REQUIRE(m.loop.device->next_timer());
  REQUIRE(m.loop.verbs.destroy_qp(*m.ends.from) == Error::None);
  REQUIRE(m.loop.verbs.destroy_qp(*m.ends.to) == Error::None);
  REQUIRE(m.loop.verbs.destroy_cq(*m.loop.recv_cq) == Error::None);
  m.loop.device->run();
  CHECK_FALSE(m.loop.device->next_timer());
  m.pass(30'000);
  CHECK(m.events() == 0);
}
}  // namespace hca::testbench

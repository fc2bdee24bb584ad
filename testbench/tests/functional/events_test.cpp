// SPDX-License-Identifier: Apache-2.0
// Asynchronous events, SQD, event queues and interrupts.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::AsyncEvent;
using testbench::CompChannel;

namespace {
using Events = std::vector<std::pair<EventType, u32>>;
Events events(Station& s, CompChannel& channel) {
  Events all;
  while (const auto e = s.verbs.get_async_event(channel)) all.emplace_back(e->type, e->element);
  return all;
}
QpAttributes to(QpState state, u32 mask = 0) {
  QpAttributes a{};
  a.state = state, a.mask = kQpState | mask, a.sqd_notify = SqdNotify::Drained;
  return a;
}
testbench::Error modify(Station& s, const QpAttributes& a) { return s.verbs.modify_qp(*s.qp, a); }
// `s` from the start again, but only to RTR.
void bring_to_rtr(Station& s, u8 own, u8 peer) {
  const QpAttributes path = s.verbs.query_qp(*s.qp);
  modify(s, to(QpState::Reset));
  QpAttributes a = path;
  a.state = QpState::Init, a.mask = kQpState | kQpPkeyIndex | kQpPort | kQpAccess;
  REQUIRE(modify(s, a) == testbench::Error::None);
  a.state = QpState::Rtr, a.rq_psn = Pair::kFirstPsn, a.dest_qpn = 0x10u + peer;
  a.udp_source_port = u16(0xC000 + own);
  a.mask =
      kQpState | kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer;
  REQUIRE(modify(s, a) == testbench::Error::None);
}
}  // namespace

TEST_CASE("SQD finishes what is begun, tells it, and holds the rest until RTS",
          "[functional][G20.1][T13-SQD/send-queue][T15-SQ_DRAINED]") {
  const bool notify = GENERATE(true, false);
  CAPTURE(notify);
  Pair pair;
  CompChannel* channel = pair.a.verbs.open_async_events();
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 600)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 10)});
  REQUIRE(modify(pair.a, to(QpState::Sqd, notify ? u32{kQpSqdNotify} : 0)) ==
          testbench::Error::None);
  CHECK(pair.a.verbs.query_qp(*pair.a.qp).sq_draining);
  CHECK(pair.post(WorkOpcode::RdmaWrite, 3, {pair.from_a(0, 20)}) == testbench::Error::None);
  CHECK(pair.a.sent.size() == 4);  // 3 packets and 1
  CHECK(events(pair.a, *channel).empty());
  // T13-SQD/transitions: attributes change when it is drained.
  QpAttributes change = to(QpState::Sqd, kQpTimeout);
  change.timeout = 3;
  CHECK(modify(pair.a, change) == testbench::Error::Invalid);
  CHECK(pair.a.verbs.last_status() == CommandStatus::BadState);
  pair.carry();
  CHECK(pair.log_a.size() == 4);
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(done.size() == 2);
  CHECK(done[1].wr_id == 2);
  CHECK(events(pair.a, *channel) == (notify ? Events{{EventType::SqDrained, 0x11}} : Events{}));
  const QpAttributes q = pair.a.verbs.query_qp(*pair.a.qp);
  CHECK(q.state == QpState::Sqd);
  CHECK_FALSE(q.sq_draining);
  CHECK(modify(pair.a, change) == testbench::Error::None);
  CHECK_FALSE(pair.a.hca.next_timer());
  REQUIRE(modify(pair.a, to(QpState::Rts)) == testbench::Error::None);
  CHECK(pair.a.sent.size() == 1);
  pair.carry();
  CHECK(pair.a.poll(pair.a.send_cq).size() == 1);
  CHECK(events(pair.a, *channel).empty());
}

TEST_CASE("a queue pair without work is drained at once", "[functional][T15-SQ_DRAINED]") {
  Pair pair;
  CompChannel* channel = pair.a.verbs.open_async_events();
  REQUIRE(modify(pair.a, to(QpState::Sqd, kQpSqdNotify)) == testbench::Error::None);
  CHECK(events(pair.a, *channel) == Events{{EventType::SqDrained, 0x11}});
}

TEST_CASE("in SQD a timeout still repeats, and requests are answered",
          "[functional][T13-SQD/inbound-request][T13-SQD/inbound-response]") {
  Pair pair;
  pair.lost_from_a = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  modify(pair.a, to(QpState::Sqd));
  modify(pair.b, to(QpState::Sqd));
  pair.carry();
  CHECK(pair.a.poll(pair.a.send_cq).empty());
  REQUIRE(pair.a.hca.next_timer());
  pair.a.hca.advance_to(*pair.a.hca.next_timer());
  pair.carry();
  CHECK(pair.log_a.size() == 2);
  CHECK(pair.log_b.size() == 1);
  CHECK(pair.a.poll(pair.a.send_cq).size() == 1);
}

TEST_CASE("what SQD holds is flushed by Error and forgotten by Reset", "[functional][G20.2]") {
  const bool reset = GENERATE(false, true);
  Pair pair;
  modify(pair.a, to(QpState::Sqd));
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)}, 0);
  REQUIRE(modify(pair.a, to(reset ? QpState::Reset : QpState::Error)) == testbench::Error::None);
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(done.size() == !reset);
  if (!reset) CHECK(done[0].status == WcStatus::WrFlushErr);
}

TEST_CASE("the first packet in RTR raises COMM_EST, once", "[functional][T15-COMM_EST]") {
  Pair pair;
  bring_to_rtr(pair.b, 2, 1);
  CompChannel* channel = pair.b.verbs.open_async_events();
  CHECK(events(pair.b, *channel).empty());
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 600)});
  pair.carry();
  CHECK(events(pair.b, *channel) == Events{{EventType::CommEst, 0x12}});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 10)});
  pair.carry();
  CHECK(events(pair.b, *channel).empty());
  CHECK(pair.a.poll(pair.a.send_cq).size() == 2);
}

TEST_CASE("in RTS no COMM_EST is raised", "[functional][T15-COMM_EST]") {
  Pair pair;
  CompChannel* channel = pair.b.verbs.open_async_events();
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  pair.carry();
  CHECK(events(pair.b, *channel).empty());
}

TEST_CASE("errors of the responder without a receive WQE are events",
          "[functional][T15-QP_REQ_ERR][T15-QP_ACCESS_ERR]") {
  Pair pair;
  CompChannel* channel = pair.b.verbs.open_async_events();
  SECTION("R_Key") {
    pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)}, 0, Pair::kBuffer - 1);
    pair.carry();
    CHECK(events(pair.b, *channel) == Events{{EventType::QpAccessErr, 0x12}});
  }
  SECTION("no right to READ") {  // the queue pair allows only WRITE: NAK invalid request
    QpAttributes deeper = to(QpState::Sqd);
    modify(pair.a, deeper);
    deeper.mask |= kQpMaxRdAtomic, deeper.max_rd_atomic = 1;
    modify(pair.a, deeper), modify(pair.a, to(QpState::Rts));
    pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 10)}, 0);
    pair.carry();
    CHECK(events(pair.b, *channel) == Events{{EventType::QpReqErr, 0x12}});
  }
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Error);
}

// T17, by hand: word 0 the context, word 1 valid 1 << 63 | source 9 << 50 | code 0x20d << 34 |
// QPN 0x12, both with their lowest byte first: 1 << 63 | 0x24 << 48 | 0x834 << 32 | 0x12.
TEST_CASE("an asynchronous EQE is that of T17", "[functional][AEQ-5]") {
  Pair pair;
  CompChannel* channel = pair.b.verbs.open_async_events();
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)}, 0, Pair::kBuffer - 1);
  pair.carry();
  CHECK(pair.b.bytes(channel->address, 16) ==
        std::vector<u8>{0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 0, 0x34, 0x08, 0x24, 0x80});
}

TEST_CASE("a full CQ raises CQ_ERR for itself and QP_FATAL for the queue pair",
          "[functional][G21.3][T9-23/RC][T15-CQ_ERR][T15-QP_FATAL]") {
  Pair pair;
  CompChannel* channel = pair.a.verbs.open_async_events();
  // 64 completions are asked for, and the CQ has room for twice as many.
  REQUIRE(pair.a.send_cq->entries() == 128);
  for (u64 id = 0; id < 128; ++id) {
    pair.a.qp->sq_completed = pair.a.qp->sq_posted;  // as if they had been polled
    REQUIRE(pair.post(WorkOpcode::RdmaWrite, id, {pair.from_a(0, 8)}) == testbench::Error::None);
    pair.carry();
  }
  CHECK(events(pair.a, *channel).empty());
  pair.a.qp->sq_completed = pair.a.qp->sq_posted;
  REQUIRE(pair.post(WorkOpcode::RdmaWrite, 128, {pair.from_a(0, 8)}) == testbench::Error::None);
  pair.carry();
  CHECK(events(pair.a, *channel) ==
        Events{{EventType::CqErr, pair.a.send_cq->cqn}, {EventType::QpFatal, 0x11}});
  CHECK(pair.a.verbs.query_qp(*pair.a.qp).state == QpState::Error);
  const QueueAttributes cq = pair.a.verbs.query_cq(*pair.a.send_cq);
  CHECK(cq.overflowed);
  CHECK(cq.producer == 128);
}

TEST_CASE("an event queue that is full loses events and says so with the next one",
          "[functional][commands]") {
  Pair pair;
  CompChannel* channel = pair.a.verbs.open_async_events(2);
  for (unsigned i = 0; i < 3; ++i) {
    modify(pair.a, to(QpState::Sqd, kQpSqdNotify));
    modify(pair.a, to(QpState::Rts));
  }
  CHECK(pair.a.hca.counters().lost_events == 1);
  const QueueAttributes eq = pair.a.verbs.query_eq(*channel);
  CHECK(eq.producer == 2);
  CHECK(eq.overflowed);
  CHECK(events(pair.a, *channel).size() == 2);
  modify(pair.a, to(QpState::Sqd, kQpSqdNotify));
  // Word 1, bit 33.
  CHECK(pair.a.bytes(channel->address, 16)[12] == ((0xf0c << 2 | 2) & 0xff));
  CHECK_FALSE(pair.a.verbs.query_eq(*channel).overflowed);
}

TEST_CASE("CQE, EQE and interrupt message are written in this order", "[functional][G30.4]") {
  Pair pair;
  CompChannel* channel = pair.a.verbs.create_comp_channel();
  testbench::Cq* cq = pair.a.verbs.create_cq(8, channel);
  testbench::QpInitAttr init;
  init.send_cq = init.recv_cq = cq;
  pair.a.qp = pair.a.verbs.create_qp(init, 0x11 + 0x100);
  bring_to_rtr(pair.b, 2, 1);
  pair.connect(pair.a, 1, 2, {});
  std::vector<char> order;
  pair.a.memory.watch(cq->address, u64{cq->entries()} * kCqeBytes,
                      [&](u64, u64) { order.push_back('C'); });
  pair.a.memory.watch(channel->address, u64{channel->entries()} * kEqeBytes,
                      [&](u64, u64) { order.push_back('E'); });
  pair.a.memory.watch(channel->message, 4, [&](u64, u64) { order.push_back('M'); });
  QpAttributes error = to(QpState::Error);
  pair.a.verbs.req_notify_cq(*cq, false);
  const testbench::SgeList sge = pair.from_a(0, 8);
  testbench::SendWr wr;
  wr.sg_list = {&sge, 1}, wr.opcode = WorkOpcode::RdmaWrite, wr.rkey = pair.mr_b.rkey;
  modify(pair.a, to(QpState::Sqd));
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == testbench::Error::None);
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == testbench::Error::None);
  CHECK(order.empty());
  REQUIRE(modify(pair.a, error) == testbench::Error::None);
  CHECK(order == std::vector<char>{'C', 'E', 'M', 'C'});  // one event for one arming
  CHECK(pair.a.verbs.take_interrupt(*channel));
  CHECK(pair.a.verbs.get_cq_event(*channel) == cq->cqn);
  CHECK_FALSE(pair.a.verbs.get_cq_event(*channel));
  // Two CQEs are not taken, both of failed WQEs: each arming raises one event.
  for (const bool solicited : {false, true}) {
    pair.a.verbs.req_notify_cq(*cq, solicited);
    CHECK(pair.a.verbs.get_cq_event(*channel) == cq->cqn);
    CHECK_FALSE(pair.a.verbs.get_cq_event(*channel));
    CHECK(pair.a.verbs.query_cq(*cq).armed == Arm::None);
  }
  CHECK(pair.a.poll(cq).size() == 2);
  pair.a.verbs.req_notify_cq(*cq, false);
  CHECK_FALSE(pair.a.verbs.get_cq_event(*channel));
  CHECK(pair.a.verbs.query_cq(*cq).armed == Arm::Next);
}

TEST_CASE("a masked vector keeps its message, an armed queue with EQEs interrupts at once",
          "[functional][commands]") {
  Pair pair;
  CompChannel* channel = pair.a.verbs.open_async_events();
  const auto raise = [&] {
    modify(pair.a, to(QpState::Sqd, kQpSqdNotify));
    modify(pair.a, to(QpState::Rts));
  };
  REQUIRE(pair.a.verbs.set_vector(*channel, true) == testbench::Error::None);
  raise();
  CHECK_FALSE(pair.a.verbs.take_interrupt(*channel));
  CHECK(pair.a.verbs.query_vector(*channel).pending);
  REQUIRE(pair.a.verbs.set_vector(*channel, false) == testbench::Error::None);
  CHECK(pair.a.verbs.take_interrupt(*channel));
  CHECK_FALSE(pair.a.verbs.query_vector(*channel).pending);
  raise();  // not armed
  CHECK_FALSE(pair.a.verbs.take_interrupt(*channel));
  CHECK(pair.a.verbs.get_async_event(*channel));
  std::array<u8, 8> bell;
  encode(EqDoorbell{true, kAsyncEq, channel->consumer}, bell.data());
  pair.a.hca.mmio_write(u32(BarOffset::EqDoorbell), bell);  // one EQE is not taken
  CHECK(pair.a.verbs.take_interrupt(*channel));
  CHECK(pair.a.verbs.query_eq(*channel).armed == Arm::None);
}
}  // namespace hca::functional

// SPDX-License-Identifier: Apache-2.0
// Asynchronous events from the device's entry to the host's reaction (AEQ-1 to AEQ-16, T17).
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::AsyncCallbacks;
using testbench::AsyncEvent;
using testbench::CompChannel;
using testbench::Error;

namespace {
// What was called back: the object's kind and number, and the event.
struct Call {
  char kind;
  u32 number;
  AsyncEvent event;
};
struct Log {
  std::vector<Call> calls;
  AsyncCallbacks callbacks{[this](testbench::Qp& qp, const AsyncEvent& e) {
                             calls.push_back({'q', qp.qpn, e});
                           },
                           [this](testbench::Cq& cq, const AsyncEvent& e) {
                             calls.push_back({'c', cq.cqn, e});
                           },
                           [this](testbench::Srq& srq, const AsyncEvent& e) {
                             calls.push_back({'s', srq.srqn, e});
                           },
                           [this](u32 port, const AsyncEvent& e) {
                             calls.push_back({'p', port, e});
                           }};
};
// T17, two little-endian words: word 1 has the number from bit 0, the code from 34, the source from
// 50 and the valid bit at 63.
u64 word(u64 number, u64 code, u64 source, bool valid = true) {
  return number | code << 34 | source << 50 | u64{valid} << 63;
}
void put(Station& s, const CompChannel& channel, u32 slot, u64 context, u64 word_1) {
  s.memory.write(channel.address + u64{slot} * 16, &context, 8);
  s.memory.write(channel.address + u64{slot} * 16 + 8, &word_1, 8);
}
constexpr u32 kQpn = 0x11;  // of the pair's first station
}  // namespace

TEST_CASE("the source of an entry names the part of its queue pair, or a CQ",
          "[functional][AEQ-6][T17-1][T17-6]") {
  struct Case {
    u64 source;
    EventPart part;
    char kind;
  };
  const auto c = GENERATE(
      Case{0x1, EventPart::ReceiveQueue, 'q'}, Case{0x3, EventPart::ReceiveQueue, 'q'},
      Case{0x5, EventPart::SendQueue, 'q'}, Case{0x7, EventPart::SendQueue, 'q'},
      Case{0x9, EventPart::InboundRequest, 'q'}, Case{0xb, EventPart::InboundRequest, 'q'},
      Case{0xd, EventPart::OutboundResponse, 'q'}, Case{0xf, EventPart::OutboundResponse, 'q'},
      Case{0x2, EventPart::Cq, 'c'}, Case{0x6, EventPart::Cq, 'c'}, Case{0xa, EventPart::Cq, 'c'},
      Case{0xe, EventPart::Cq, 'c'});
  CAPTURE(c.source);
  Pair pair;
  Log log;
  CompChannel* channel = pair.a.verbs.open_async_events();
  const bool of_cq = c.kind == 'c';
  // QP_FATAL 0x700, CQ_ERR 0x203.
  put(pair.a, *channel, 0, 0x1234, of_cq ? word(1, 0x203, c.source) : word(kQpn, 0x700, c.source));
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 1);
  REQUIRE(log.calls.size() == 1);
  CHECK(log.calls[0].kind == c.kind);
  CHECK(log.calls[0].number == (of_cq ? 1 : kQpn));
  CHECK(log.calls[0].event.part == c.part);
  CHECK(log.calls[0].event.context == (of_cq ? 0x2468 : 0x1234));  // shifted left by one
}

TEST_CASE("a code that is known has its own object, whatever the source says",
          "[functional][AEQ-7]") {
  Pair pair;
  Log log;
  CompChannel* channel = pair.a.verbs.open_async_events();
  put(pair.a, *channel, 0, 0, word(kQpn, 0x208, 0x2));  // QP_REQ_ERR with a CQ's source
  put(pair.a, *channel, 1, 0, word(1, 0x203, 0x5));     // CQ_ERR with a send queue's
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 2);
  REQUIRE(log.calls.size() == 2);
  CHECK(log.calls[0].kind == 'q');
  CHECK(log.calls[1].kind == 'c');
}

TEST_CASE("codes without a reaction are taken, and only those of a queue pair are kept in it",
          "[functional][AEQ-8][AEQ-10][AEQ-13]") {
  Pair pair;
  Log log;
  CompChannel* channel = pair.a.verbs.open_async_events();
  const auto dispatch = [&] { return pair.a.verbs.dispatch_async_events(*channel, log.callbacks); };
  put(pair.a, *channel, 0, 0, word(kQpn, 0x555, 0x0));  // of nothing
  put(pair.a, *channel, 1, 0, word(kQpn, 0x555, 0x2));  // of a CQ, but no CQ_ERR
  CHECK(dispatch() == 2);
  CHECK(log.calls.empty());
  CHECK(pair.a.qp->last_event_code == 0);
  put(pair.a, *channel, 2, 0, word(kQpn, 0x51e, 0x5));  // of a queue pair
  CHECK(dispatch() == 1);
  CHECK(log.calls.empty());
  CHECK(pair.a.qp->last_event_code == 0x51e);
  put(pair.a, *channel, 3, 0, word(kQpn, 0x208, 0x9));
  put(pair.a, *channel, 4, 0, word(kQpn, 0xf0c, 0x0));  // SQ_DRAINED
  CHECK(dispatch() == 2);
  CHECK(log.calls.size() == 2);
  CHECK(pair.a.qp->last_event_code == 0x208);
}

TEST_CASE("an entry is taken when its valid bit is there, and then whole", "[functional][AEQ-3]") {
  Pair pair;
  Log log;
  CompChannel* channel = pair.a.verbs.open_async_events();
  put(pair.a, *channel, 0, 0x1234, word(kQpn, 0x700, 0x1, false));
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 0);
  CHECK(log.calls.empty());
  put(pair.a, *channel, 0, 0x1234, word(kQpn, 0x700, 0x1));
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 1);
  REQUIRE(log.calls.size() == 1);
  CHECK(log.calls[0].event.type == EventType::QpFatal);
  CHECK(log.calls[0].event.context == 0x1234);
}

TEST_CASE("events of objects that are gone call nobody", "[functional][AEQ-9][AEQ-11]") {
  Pair pair;
  Log log;
  Station& s = pair.a;
  CompChannel* channel = s.verbs.open_async_events();
  testbench::Cq* cq = s.verbs.create_cq(4);
  testbench::Srq* srq = s.verbs.create_srq({});
  put(s, *channel, 0, 0, word(kQpn, 0x700, 0x1));
  put(s, *channel, 1, 0, word(cq->cqn, 0x203, 0x2));
  put(s, *channel, 2, 0, word(srq->srqn, 0xf04, 0x0));
  REQUIRE(s.verbs.destroy_qp(*s.qp) == Error::None);
  REQUIRE(s.verbs.destroy_cq(*cq) == Error::None);
  REQUIRE(s.verbs.destroy_srq(*srq) == Error::None);
  CHECK(s.verbs.dispatch_async_events(*channel, log.callbacks) == 3);
  CHECK(log.calls.empty());
}

TEST_CASE("without its event queue the device writes no event, and none comes later",
          "[functional][AEQ-1]") {
  Pair pair;
  Log log;
  PortAttributes port = Pair::attributes(1, 1);
  port.state = PortState::Down;
  REQUIRE(pair.a.verbs.set_port(port) == Error::None);
  CHECK(pair.a.hca.counters().lost_events == 1);
  CompChannel* channel = pair.a.verbs.open_async_events();
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 0);
  port.state = PortState::Active;
  REQUIRE(pair.a.verbs.set_port(port) == Error::None);
  CHECK(pair.a.verbs.dispatch_async_events(*channel, log.callbacks) == 1);
  CHECK(pair.a.hca.counters().lost_events == 1);
  REQUIRE(log.calls.size() == 1);
  CHECK(log.calls[0].kind == 'p');
  CHECK(log.calls[0].number == 1);
  CHECK(log.calls[0].event.type == EventType::PortActive);
}

TEST_CASE("events of the device reach the callbacks of their objects, in the order of the faults",
          "[functional][AEQ-6][AEQ-12][AEQ-14][AEQ-16]") {
  Pair pair;
  Log log;
  CompChannel* channel = pair.b.verbs.open_async_events(2);  // room for two at a time
  const auto dispatch = [&] { return pair.b.verbs.dispatch_async_events(*channel, log.callbacks); };
  PortAttributes port = Pair::attributes(2, 1);
  for (u16 lid = 1; lid <= 5; ++lid) {
    port.lid = lid;
    REQUIRE(pair.b.verbs.set_port(port) == Error::None);
    CHECK(dispatch() == 1);
  }
  CHECK(log.calls.size() == 5);
  CHECK(pair.b.hca.counters().lost_events == 0);
  // A WRITE with a key of nothing: QP_ACCESS_ERR of an inbound request.
  pair.mr_b.rkey += 0x100;
  REQUIRE(pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 8)}) == Error::None);
  pair.carry();
  CHECK(dispatch() == 1);
  REQUIRE(log.calls.size() == 6);
  CHECK(log.calls[5].kind == 'q');
  CHECK(log.calls[5].number == 0x12);
  CHECK(log.calls[5].event.type == EventType::QpAccessErr);
  CHECK(log.calls[5].event.part == EventPart::InboundRequest);
  CHECK(pair.b.qp->last_event_code == 0x20d);
}
}  // namespace hca::functional

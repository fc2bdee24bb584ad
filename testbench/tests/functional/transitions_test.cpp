// SPDX-License-Identifier: Apache-2.0
// The states of a reliable queue pair: T13, typed here from its tables.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using Q = QpState;
using S = CommandStatus;

namespace {
// Bits of the mask by their places in the device's document.
enum Bit : u32 {
  State = 1,
  PkeyIndex = 2,
  Port = 4,
  Access = 8,
  Path = 16,
  Mtu = 32,
  DestQp = 64,
  RqPsn = 128,
  MaxDest = 256,
  MinRnr = 512,
  Timeout = 1024,
  RetryCnt = 2048,
  RnrRetry = 4096,
  SqPsn = 8192,
  MaxRd = 16384,
  Qkey = 32768,
  CurState = 65536,
  SqdNotify = 131072,
};

struct Step {
  Q from, to;
  u32 required, optional;
};
// "Transitions", column "to (software)", and "Required attributes", column RC.
constexpr Step kSteps[] = {
    {Q::Reset, Q::Init, State | PkeyIndex | Port | Access, 0},
    {Q::Reset, Q::Reset, State, 0},
    {Q::Reset, Q::Error, State, 0},
    {Q::Init, Q::Rtr, State | Path | Mtu | DestQp | RqPsn | MaxDest | MinRnr, PkeyIndex | Access},
    {Q::Init, Q::Init, State, PkeyIndex | Port | Access},
    {Q::Init, Q::Reset, State, 0},
    {Q::Init, Q::Error, State, 0},
    {Q::Rtr, Q::Rts, State | Timeout | RetryCnt | RnrRetry | SqPsn | MaxRd,
     CurState | Access | MinRnr},
    {Q::Rtr, Q::Reset, State, 0},
    {Q::Rtr, Q::Error, State, 0},
    {Q::Rts, Q::Sqd, State, SqdNotify},
    {Q::Rts, Q::Rts, State, CurState | Access | MinRnr},
    {Q::Rts, Q::Reset, State, 0},
    {Q::Rts, Q::Error, State, 0},
    {Q::Sqd, Q::Rts, State, CurState | Access | MinRnr},
    {Q::Sqd, Q::Sqd, State,
     Port | Path | Timeout | RetryCnt | RnrRetry | MaxRd | MaxDest | Access | PkeyIndex | MinRnr},
    {Q::Sqd, Q::Reset, State, 0},
    {Q::Sqd, Q::Error, State, 0},
    {Q::Error, Q::Reset, State, 0},
    {Q::Error, Q::Error, State, 0},
};
const Step* step(Q from, Q to) {
  for (const Step& s : kSteps)
    if (s.from == from && s.to == to) return &s;
  return nullptr;
}

// A queue pair, alone.
struct Alone : Station {
  Alone() {
    PortAttributes port;
    port.framing = u8(Framing::RoceV2Ip4), port.gids[0] = make_gid(0, 0xffff0a000001);
    port.pkeys[3] = 0x8123, port.mtu = 2048;
    verbs.set_port(port);
    send_cq = verbs.create_cq(4);
    testbench::QpInitAttr init;
    init.send_cq = init.recv_cq = send_cq;
    qp = verbs.create_qp(init);
    REQUIRE(qp);
  }
  // Good values for all attributes.
  QpAttributes values(Q to, u32 mask) const {
    QpAttributes a{};
    a.state = to, a.mask = mask, a.cur_state = now;
    a.port = 1, a.access = 0xf, a.pkey_index = 3, a.path_mtu = 1024, a.dest_qpn = 0x77;
    a.rq_psn = 0x123456, a.sq_psn = 0x654321, a.qkey = 1;
    a.max_rd_atomic = 4, a.max_dest_rd_atomic = 5, a.min_rnr_timer = 6;
    a.timeout = 14, a.retry_count = 5, a.rnr_retry = 4;
    a.dmac = 0x020000000009, a.dgid_low = 0xffff0a000002, a.traffic_class = 0x20;
    a.hop_limit = 63, a.sl = 2, a.flow_label = 0x54321, a.dlid = 17, a.udp_source_port = 0xc123;
    return a;
  }
  S modify(const QpAttributes& a) {
    verbs.modify_qp(*qp, a);
    if (verbs.last_status() == S::Ok) now = a.state;
    return verbs.last_status();
  }
  S modify(Q to, u32 mask) { return modify(values(to, mask)); }
  void bring_to(Q state) {
    if (state == Q::Error) {
      REQUIRE(modify(Q::Error, State) == S::Ok);
      return;
    }
    for (const Q next : {Q::Init, Q::Rtr, Q::Rts, Q::Sqd}) {
      if (now == state) return;
      REQUIRE(modify(next, step(now, next)->required) == S::Ok);
    }
  }
  std::vector<u8> queried() {
    std::array<u8, bytes_of<QpAttributes>()> bytes;
    encode(verbs.query_qp(*qp), bytes.data());
    return {bytes.begin(), bytes.end()};
  }
  Q now = Q::Reset;
};
constexpr Q kStates[] = {Q::Reset, Q::Init, Q::Rtr, Q::Rts, Q::Sqd, Q::Error};
constexpr Q kTargets[] = {Q::Reset, Q::Init, Q::Rtr, Q::Rts, Q::Sqd, Q::Sqe, Q::Error};
}  // namespace

TEST_CASE("T13's transitions are made, all others are refused and change nothing",
          "[commands][T13-Reset/transitions][T13-Init/transitions][T13-RTR/transitions]"
          "[T13-RTS/transitions][T13-SQD/transitions][T13-Error/transitions]") {
  for (const Q from : kStates)
    for (const Q to : kTargets) {
      CAPTURE(name_of(from), name_of(to));
      Alone d;
      d.bring_to(from);
      const std::vector<u8> before = d.queried();
      const Step* s = step(from, to);
      CHECK(d.modify(to, s ? s->required : State) == (s ? S::Ok : S::BadState));
      CHECK(d.verbs.query_qp(*d.qp).state == (s ? to : from));
      if (!s) CHECK(d.queried() == before);
    }
}

TEST_CASE("each required attribute is required, each optional one is taken, no other is",
          "[commands][T13-Reset-Init/RC][T13-Init-RTR/RC][T13-RTR-RTS/RC]") {
  for (const Step& s : kSteps)
    for (u32 bit = 1; bit < 1u << 20; bit <<= 1) {
      CAPTURE(name_of(s.from), name_of(s.to), bit);
      Alone d;
      d.bring_to(s.from);
      const std::vector<u8> before = d.queried();
      const bool taken = s.optional & bit;
      CHECK(d.modify(s.to, s.required ^ bit) == (taken ? S::Ok : S::BadState));
      if (!taken) CHECK(d.queried() == before);
    }
}

TEST_CASE("a state that is none is out of range", "[commands]") {
  Alone d;
  CHECK(d.modify(Q(7), State) == S::BadValue);
  CHECK(d.modify(Q(255), State) == S::BadValue);
}

TEST_CASE("the state that the host believes in must be the one", "[commands]") {
  for (const Q from : {Q::Rts, Q::Sqd}) {
    Alone d;
    d.bring_to(from);
    QpAttributes a = d.values(Q::Rts, State | CurState);
    a.cur_state = from == Q::Rts ? Q::Sqd : Q::Rts;
    CHECK(d.modify(a) == S::BadState);
    CHECK(d.verbs.query_qp(*d.qp).state == from);
    a.cur_state = from;
    CHECK(d.modify(a) == S::Ok);
  }
}

TEST_CASE("a value out of its range changes nothing, not even the state", "[commands]") {
  struct Case {
    Q from, to;
    void (*change)(QpAttributes&);
  };
  using A = QpAttributes;
  constexpr Case kCases[] = {
      {Q::Reset, Q::Init, [](A& a) { a.port = 0; }},
      {Q::Reset, Q::Init, [](A& a) { a.port = 2; }},
      {Q::Reset, Q::Init, [](A& a) { a.pkey_index = 16; }},
      {Q::Reset, Q::Init, [](A& a) { a.access = 0x10; }},
      {Q::Init, Q::Rtr, [](A& a) { a.path_mtu = 1000; }},
      {Q::Init, Q::Rtr, [](A& a) { a.path_mtu = 4096; }},  // the port has 2048
      {Q::Init, Q::Rtr, [](A& a) { a.sgid_index = 8; }},
      {Q::Init, Q::Rtr, [](A& a) { a.sl = 16; }},
      {Q::Init, Q::Rtr, [](A& a) { a.flow_label = 1 << 20; }},
      {Q::Init, Q::Rtr, [](A& a) { a.udp_source_port = 0xbfff; }},
      {Q::Init, Q::Rtr, [](A& a) { a.min_rnr_timer = 32; }},
      {Q::Init, Q::Rtr, [](A& a) { a.max_dest_rd_atomic = 129; }},
      {Q::Rtr, Q::Rts, [](A& a) { a.timeout = 32; }},
      {Q::Rtr, Q::Rts, [](A& a) { a.retry_count = 8; }},
      {Q::Rtr, Q::Rts, [](A& a) { a.rnr_retry = 8; }},
      {Q::Rtr, Q::Rts, [](A& a) { a.max_rd_atomic = 129; }},
  };
  for (const Case& c : kCases) {
    CAPTURE(&c - kCases);
    Alone d;
    d.bring_to(c.from);
    const std::vector<u8> before = d.queried();
    QpAttributes a = d.values(c.to, step(c.from, c.to)->required);
    c.change(a);
    CHECK(d.modify(a) == S::BadValue);
    CHECK(d.queried() == before);
  }
}

TEST_CASE("a query gives back all that was given", "[commands]") {
  Alone d;
  d.bring_to(Q::Rts);
  const QpAttributes a = d.verbs.query_qp(*d.qp), w = d.values(Q::Rts, 0);
  CHECK(a.port == 1);
  CHECK(a.access == 0xf);
  CHECK(a.pkey_index == 3);
  CHECK(a.path_mtu == 1024);
  CHECK(a.dest_qpn == 0x77);
  CHECK(a.rq_psn == 0x123456);
  CHECK(a.sq_psn == 0x654321);
  CHECK(a.unacked_psn == 0x654321);
  CHECK(a.max_rd_atomic == 4);
  CHECK(a.max_dest_rd_atomic == 5);
  CHECK(a.min_rnr_timer == 6);
  CHECK(a.timeout == 14);
  CHECK(a.retry_count == 5);
  CHECK(a.retries_left == 5);
  CHECK(a.rnr_retry == 4);
  CHECK(a.rnr_retries_left == 4);
  CHECK(a.dmac == w.dmac);
  CHECK(a.dgid_low == w.dgid_low);
  CHECK(a.traffic_class == 0x20);
  CHECK(a.hop_limit == 63);
  CHECK(a.sl == 2);
  CHECK(a.flow_label == 0x54321);
  CHECK(a.dlid == 17);
  CHECK(a.udp_source_port == 0xc123);
  // G20.3
  REQUIRE(d.modify(Q::Reset, State) == S::Ok);
  const QpAttributes reset = d.verbs.query_qp(*d.qp);
  CHECK(reset.rq_psn == 0);
  CHECK(reset.sq_psn == 0);
  CHECK(reset.retries_left == 0);
  CHECK(reset.path_mtu == 0);
}

TEST_CASE("in SQD a drained queue pair takes new attributes", "[commands][T13-SQD/transitions]") {
  Alone d;
  d.bring_to(Q::Sqd);
  QpAttributes a = d.values(Q::Sqd, State | Timeout | RetryCnt | Path);
  a.timeout = 9, a.retry_count = 2, a.hop_limit = 5;
  REQUIRE(d.modify(a) == S::Ok);
  const QpAttributes q = d.verbs.query_qp(*d.qp);
  CHECK(q.state == Q::Sqd);
  CHECK(q.timeout == 9);
  CHECK(q.retries_left == 2);
  CHECK(q.hop_limit == 5);
  CHECK(q.min_rnr_timer == 6);  // not given, stays
}
}  // namespace hca::functional

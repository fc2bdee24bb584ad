// SPDX-License-Identifier: Apache-2.0
// The same host software on the model without time and on the one in time: all that QUERY tells is
// the same.
#include <catch2/catch.hpp>

#include "testbench/scenario/scenario_file.h"
#include "testbench/testbed/fresh_kernel.h"
#include "testbench/testbed/testbed.h"
#include "testbench/tests/functional/functional_pair.h"

namespace hca::testbench {
namespace {
using namespace proto;

struct Side {
  VerbsContext* verbs = nullptr;
  CompChannel *async = nullptr, *channel = nullptr;
  Cq *send_cq = nullptr, *recv_cq = nullptr;
  Qp* qp = nullptr;
  Mr mr;
};

// What both runners are asked for, in the order of asking.
struct Answers {
  std::vector<std::pair<std::string, std::vector<u8>>> list;
  template <class Body>
  void add(std::string what, const Body& body) {
    std::vector<u8> bytes(bytes_of<Body>());
    encode(body, bytes.data());
    list.emplace_back(std::move(what), std::move(bytes));
  }
};

class Script {
 public:
  Script(VerbsContext& a, VerbsContext& b, std::function<void()> run) : run_(std::move(run)) {
    sides_[0].verbs = &a, sides_[1].verbs = &b;
    for (unsigned i = 0; i < 2; ++i) create(i);
    for (unsigned i = 0; i < 2; ++i) connect(i);
  }
  Answers play() {
    ask("connected");
    Side &a = sides_[0], &b = sides_[1];
    const SgeList in{b.mr.addr, 4096, b.mr.lkey};
    for (u64 i = 0; i < 3; ++i)
      REQUIRE(b.verbs->post_recv(*b.qp, RecvWr{i, {&in, 1}}) == Error::None);
    run_();
    post(WorkOpcode::RdmaWrite, 3000), post(WorkOpcode::SendImmediate, 1500);
    post(WorkOpcode::RdmaRead, 700), post(WorkOpcode::FetchAdd, 8);
    ask("after transfers");
    modify(0, QpState::Sqd, kQpSqdNotify);
    ask("in SQD");
    REQUIRE(a.verbs->post_send(*a.qp, wr(WorkOpcode::Send, 10)) == Error::None);
    ask("held");
    modify(0, QpState::Rts, 0);
    ask("again in RTS");
    SendWr bad = wr(WorkOpcode::RdmaWrite, 8);
    bad.rkey ^= 1;
    REQUIRE(a.verbs->post_send(*a.qp, bad) == Error::None);
    REQUIRE(a.verbs->post_send(*a.qp, bad) == Error::None);
    ask("in Error");
    for (Side& s : sides_) poll(s);
    ask("polled");
    modify(0, QpState::Reset, 0);
    ask("reset");
    return std::move(answers_);
  }

 private:
  void create(unsigned i) {
    Side& s = sides_[i];
    PortAttributes port;
    port.framing = u8(Framing::RoceV2Ip4), port.mac = 0x020000000001 + i;
    port.gids[0] = make_gid(0, 0xffff0a000001 + i);
    REQUIRE(s.verbs->set_port(port) == Error::None);
    REQUIRE((s.async = s.verbs->open_async_events(16)));
    REQUIRE((s.channel = s.verbs->create_comp_channel(16)));
    s.send_cq = s.verbs->create_cq(16, s.channel), s.recv_cq = s.verbs->create_cq(16, s.channel);
    s.mr = s.verbs->reg_mr(s.verbs->alloc(1 << 16, 4096), 1 << 16, kAllAccess);
    QpInitAttr init;
    init.send_cq = s.send_cq, init.recv_cq = s.recv_cq;
    REQUIRE((s.qp = s.verbs->create_qp(init)));
    s.verbs->req_notify_cq(*s.recv_cq, false);
  }
  void connect(unsigned i) {
    modify(i, QpState::Init, kQpPkeyIndex | kQpPort | kQpAccess);
    modify(i, QpState::Rtr,
           kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic | kQpMinRnrTimer);
    modify(i, QpState::Rts, kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic);
  }
  void modify(unsigned i, QpState state, u32 mask) {
    Side& s = sides_[i];
    QpAttributes a{};
    a.state = state, a.mask = kQpState | mask, a.sqd_notify = SqdNotify::Drained;
    a.port = 1, a.access = kAllAccess, a.path_mtu = 1024, a.dest_qpn = sides_[1 - i].qp->qpn;
    a.rq_psn = a.sq_psn = 0xfffffe, a.max_rd_atomic = a.max_dest_rd_atomic = 4;
    a.min_rnr_timer = 12, a.timeout = 14, a.retry_count = 7, a.rnr_retry = 7;
    a.dmac = 0x020000000002 - i, a.dgid_low = 0xffff0a000002 - i, a.hop_limit = 64;
    a.udp_source_port = u16(0xC000 + i);
    REQUIRE(s.verbs->modify_qp(*s.qp, a) == Error::None);
  }
  SendWr wr(WorkOpcode opcode, u32 bytes) {
    sge_ = {sides_[0].mr.addr, bytes, sides_[0].mr.lkey};
    SendWr wr;
    wr.sg_list = {&sge_, 1}, wr.opcode = opcode, wr.send_flags = kSignaled;
    wr.remote_addr = sides_[1].mr.addr + 8192, wr.rkey = sides_[1].mr.rkey;
    return wr;
  }
  void post(WorkOpcode opcode, u32 bytes) {
    REQUIRE(sides_[0].verbs->post_send(*sides_[0].qp, wr(opcode, bytes)) == Error::None);
    run_();
  }
  void poll(Side& s) {
    std::vector<Wc> all(16);
    s.verbs->poll_cq(*s.send_cq, all), s.verbs->poll_cq(*s.recv_cq, all);
    s.verbs->req_notify_cq(*s.send_cq, true), s.verbs->req_notify_cq(*s.recv_cq, false);
    while (s.verbs->get_async_event(*s.async)) {
    }
    while (s.verbs->get_cq_event(*s.channel)) {
    }
  }
  void ask(const std::string& when) {
    run_();
    for (unsigned i = 0; i < 2; ++i) {
      const Side& s = sides_[i];
      const std::string where = when + ", side " + std::to_string(i) + ": ";
      answers_.add(where + "device", s.verbs->query_device());
      answers_.add(where + "port", s.verbs->query_port());
      answers_.add(where + "MR", s.verbs->query_mr(s.mr));
      answers_.add(where + "send CQ", s.verbs->query_cq(*s.send_cq));
      answers_.add(where + "receive CQ", s.verbs->query_cq(*s.recv_cq));
      answers_.add(where + "asynchronous EQ", s.verbs->query_eq(*s.async));
      answers_.add(where + "completion EQ", s.verbs->query_eq(*s.channel));
      answers_.add(where + "vector", s.verbs->query_vector(*s.channel));
      answers_.add(where + "QP", s.verbs->query_qp(*s.qp));
      answers_.add(where + "QP creation", s.verbs->query_qp_create(*s.qp));
    }
  }

  std::function<void()> run_;
  std::array<Side, 2> sides_;
  SgeList sge_;
  Answers answers_;
};
}  // namespace

TEST_CASE("both runners answer every query alike", "[commands][query]") {
  functional::Station fa, fb;
  const auto carry = [&] {
    while (!fa.sent.empty() || !fb.sent.empty()) {
      functional::Station &from = fa.sent.empty() ? fb : fa, &to = fa.sent.empty() ? fa : fb;
      const std::vector<u8> frame = std::move(from.sent.front());
      from.sent.pop_front();
      to.hca.receive(frame);
    }
  };
  const Answers without_time = Script(fa.verbs, fb.verbs, carry).play();

  FreshKernel kernel;
  Testbed bed(parse_scenario("workload:\n  - {operation: write, from: 8 B, to: 8 B}\n", "test"));
  const auto pass = [] { sc_core::sc_start(sc_core::sc_time(50, sc_core::SC_US)); };
  const Answers in_time = Script(bed.node(0).verbs, bed.node(1).verbs, pass).play();

  REQUIRE(without_time.list.size() == in_time.list.size());
  for (std::size_t i = 0; i < in_time.list.size(); ++i) {
    INFO(in_time.list[i].first);
    CHECK(without_time.list[i].second == in_time.list[i].second);
  }
}
}  // namespace hca::testbench

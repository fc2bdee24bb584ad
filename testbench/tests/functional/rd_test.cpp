// SPDX-License-Identifier: Apache-2.0
// RD end to end: queue pairs of two devices share one EE context, and packets are lost.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::Qp;
using testbench::SgeList;
using testbench::Wc;

namespace {
constexpr u32 kQueuePairs = 3, kEecn = 5, kQkey = 0x4711, kBytes = 700;
constexpr u64 kMemory = u64{1} << 32;

TransportOptions with_rd() {
  TransportOptions options;
  options.rd = true;
  return options;
}

// One device: its queue pairs, each with a part of the memory.
struct Side {
  Station station{1, with_rd()};
  testbench::Mr mr;
  std::array<Qp*, kQueuePairs> qps{};
  u32 received = 0;
  std::array<u64, kQueuePairs> last_sent{};  // wr_id of the newest completion

  void set_up(u8 own, u8 peer) {
    testbench::VerbsContext& verbs = station.verbs;
    verbs.set_port(Pair::attributes(own, 1));
    station.send_cq = verbs.create_cq(256), station.recv_cq = verbs.create_cq(256);
    mr = verbs.reg_mr(kMemory, 1 << 20, kAllAccess);
    const u32 domain = *verbs.alloc_rdd();
    REQUIRE(verbs.create_eec(kEecn) == kEecn);
    connect(peer, domain);
    testbench::QpInitAttr init;
    init.service = Service::Rd;
    init.send_cq = station.send_cq, init.recv_cq = station.recv_cq;
    init.max_send_wr = init.max_recv_wr = 64;
    init.max_send_sge = 2;  // room for the operands of an ATOMIC
    for (Qp*& qp : qps) {
      qp = verbs.create_qp(init);
      REQUIRE(qp);
      bring_up(*qp, domain);
    }
  }
  void connect(u8 peer, u32 domain) {
    QpAttributes a{};
    a.port = 1, a.rdd = domain, a.path_mtu = 256, a.dest_qpn = kEecn;
    a.rq_psn = a.sq_psn = 0xfffff0, a.max_rd_atomic = a.max_dest_rd_atomic = 1;
    a.dmac = Pair::mac(peer, 1), a.dgid_low = Pair::gid_low(peer, 1), a.hop_limit = 64;
    a.udp_source_port = 0xC000, a.timeout = 8, a.retry_count = 7, a.rnr_retry = 7;
    QpState from = QpState::Reset;
    for (const QpState to : {QpState::Init, QpState::Rtr, QpState::Rts}) {
      a.state = to;
      a.mask = find_transition(kEeContext, std::exchange(from, to), to)->required;
      REQUIRE(station.verbs.modify_eec(kEecn, a) == testbench::Error::None);
    }
  }
  void bring_up(Qp& qp, u32 domain) {
    QpAttributes a{};
    a.port = 1, a.rdd = domain, a.qkey = kQkey, a.access = kAllAccess, a.min_rnr_timer = 1;
    QpState from = QpState::Reset;
    for (const QpState to : {QpState::Init, QpState::Rtr, QpState::Rts}) {
      a.state = to;
      const QpTransition& t = *find_transition(kRd, std::exchange(from, to), to);
      a.mask = t.required | (t.optional & (kQpAccess | kQpMinRnrTimer));
      REQUIRE(station.verbs.modify_qp(qp, a) == testbench::Error::None);
    }
  }
  void post_receive(u32 i) {
    const SgeList sge{kMemory + 0x80000 + i * 0x1000, kBytes, mr.lkey};
    station.verbs.post_recv(*qps[i], testbench::RecvWr{0, {&sge, 1}});
  }
};

struct Soak {
  Side a, b;
  std::mt19937 random{1};
  u64 posted = 0, completed = 0, sends = 0, added = 0;
  u32 loss = 0;  // of 100 packets

  Soak() {
    a.set_up(1, 2);
    b.set_up(2, 1);
  }
  bool is_lost() { return random() % 100 < loss; }
  // Carries packets; if there are none, lets time pass up to the next timer. False: none runs.
  bool step() {
    if (carry(a.station, b.station) || carry(b.station, a.station)) return true;
    std::optional<Nanoseconds> next;
    for (Side* side : {&a, &b})
      if (const auto due = side->station.hca.next_timer(); due && (!next || *due < *next))
        next = due;
    if (!next) return false;
    for (Side* side : {&a, &b}) side->station.hca.advance_to(*next);
    return true;
  }
  bool carry(Station& from, Station& to) {
    if (from.sent.empty()) return false;
    const std::vector<u8> frame = std::move(from.sent.front());
    from.sent.pop_front();
    if (!is_lost()) to.hca.receive(frame);
    return true;
  }
  void post(u32 i) {
    static constexpr std::array kOperations{WorkOpcode::Send, WorkOpcode::RdmaWrite,
                                            WorkOpcode::RdmaRead, WorkOpcode::FetchAdd};
    testbench::SendWr wr;
    wr.opcode = kOperations[random() % kOperations.size()];
    const bool atomic = wr.opcode == WorkOpcode::FetchAdd;
    const SgeList sge{kMemory + i * 0x10000, atomic ? 8 : 1 + u32(random() % kBytes), a.mr.lkey};
    wr.sg_list = {&sge, 1}, wr.wr_id = ++posted, wr.send_flags = testbench::kSignaled;
    wr.remote_addr = kMemory + (atomic ? 0xf0000 : 0x40000 + i * 0x1000);
    wr.rkey = b.mr.rkey, wr.compare_add = 1;
    wr.rd = {kEecn, b.qps[i]->qpn, kQkey};
    REQUIRE(a.station.verbs.post_send(*a.qps[i], wr) == testbench::Error::None);
    sends += wr.opcode == WorkOpcode::Send;
    added += atomic;
  }
  void poll() {
    for (const Wc& wc : a.station.poll(a.station.send_cq)) {
      REQUIRE(wc.status == WcStatus::Success);
      const auto qp = std::ranges::find(a.qps, wc.qp_num, &Qp::qpn);
      REQUIRE(qp != a.qps.end());
      u64& last = a.last_sent[std::size_t(qp - a.qps.begin())];
      REQUIRE(wc.wr_id > last);  // in the order of its queue
      last = wc.wr_id;
      ++completed;
    }
    for (const Wc& wc : b.station.poll(b.station.recv_cq)) {
      REQUIRE(wc.status == WcStatus::Success);
      REQUIRE(std::ranges::count(a.qps, wc.src_qp, &Qp::qpn) == 1);
      ++b.received;
    }
  }
  void run(u64 messages) {
    for (u32 i = 0; i < kQueuePairs; ++i) b.post_receive(i);
    while (completed < messages) {
      for (u32 i = 0; i < kQueuePairs && posted < messages; ++i)
        if (testbench::VerbsContext::free_send_slots(*a.qps[i]) > 32) post(i);
      REQUIRE(step());
      poll();
      // Receive WQEs come late, so that RNR NAKs suspend messages.
      if (random() % 4 == 0) {
        const u32 i = u32(random() % kQueuePairs);
        if (b.qps[i]->rq_posted - b.qps[i]->rq_completed < 2) b.post_receive(i);
      }
    }
  }
};
}  // namespace

TEST_CASE("queue pairs share an EE context, with RNR NAKs and lost packets",
          "[functional][G13.1]") {
  Soak soak;
  soak.loss = GENERATE(0u, 3u);
  soak.run(3000);
  CHECK(soak.b.received == soak.sends);
  const std::vector<u8> word = soak.b.station.bytes(kMemory + 0xf0000, 8);
  u64 count = 0;
  for (std::size_t i = 0; i < 8; ++i) count |= u64{word[i]} << 8 * i;
  CHECK(count == soak.added);
}
}  // namespace hca::functional

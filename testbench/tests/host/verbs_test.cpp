// SPDX-License-Identifier: Apache-2.0
// The verbs layer on two functional HCAs whose frames are handed over one after the other.
#include "testbench/host/verbs.h"

#include <catch2/catch.hpp>
#include <deque>
#include <numeric>

#include "model/functional/functional_hca.h"
#include "model/proto/wire/packet.h"

namespace hca::testbench {
namespace {
using proto::QpState;
using proto::WcStatus;
using proto::WorkOpcode;
constexpr u8 kAll = proto::kLocalWrite | proto::kRemoteWrite;
constexpr u64 kMac = 0x020000000001;

struct Pair;
struct Side {
  Side(Pair& owner, unsigned number);
  tlm_::HostMemory memory;
  functional::FunctionalHca device;
  VerbsContext verbs;
  std::vector<u32> doorbells;  // offsets
  Cq* cq = nullptr;
  Qp* qp = nullptr;
  Mr mr;
};
struct Pair {
  std::deque<std::pair<unsigned, std::vector<u8>>> frames;  // receiver, bytes
  Side a{*this, 0}, b{*this, 1};
  void run() {
    while (!frames.empty()) {
      auto [to, frame] = std::move(frames.front());
      frames.pop_front();
      (to ? b : a).device.receive(frame);
    }
  }
  explicit Pair(QpInitAttr caps = {}) {
    for (Side* side : {&a, &b}) {
      const bool first = side == &a;
      proto::PortAttributes port{};
      port.framing = u8(proto::Framing::RoceV2Ip4), port.mtu = 4096;
      port.mac = kMac + !first, port.gids[0] = proto::make_gid(0, 0xffff0a000001 + !first);
      REQUIRE(side->verbs.set_port(port) == Error::None);
      side->cq = side->verbs.create_cq(16);
      caps.send_cq = caps.recv_cq = side->cq;
      side->qp = side->verbs.create_qp(caps);
      REQUIRE(side->qp);
      side->mr = side->verbs.reg_mr(side->verbs.alloc(1 << 16), 1 << 16, kAll);
    }
  }
  Error modify(Side& side, QpState state, u32 mask) {
    const bool first = &side == &a;
    proto::QpAttributes q{};
    q.mask = proto::kQpState | mask, q.state = state;
    q.port = 1, q.access = kAll, q.path_mtu = 1024, q.dest_qpn = (first ? b : a).qp->qpn;
    q.dmac = kMac + first, q.dgid_low = 0xffff0a000001 + first, q.hop_limit = 64;
    q.udp_source_port = 0xC000, q.timeout = 14, q.retry_count = 7, q.rnr_retry = 7;
    return side.verbs.modify_qp(*side.qp, q);
  }
  void connect() {
    using namespace proto;
    for (Side* side : {&a, &b}) {
      REQUIRE(modify(*side, QpState::Init, kQpPkeyIndex | kQpPort | kQpAccess) == Error::None);
      REQUIRE(modify(*side, QpState::Rtr,
                     kQpPath | kQpPathMtu | kQpDestQpn | kQpRqPsn | kQpMaxDestRdAtomic |
                         kQpMinRnrTimer) == Error::None);
      REQUIRE(modify(*side, QpState::Rts,
                     kQpTimeout | kQpRetryCount | kQpRnrRetry | kQpSqPsn | kQpMaxRdAtomic) ==
              Error::None);
    }
  }
  SendWr write(u64 wr_id, const SgeList& sge, u64 to, u32 flags = kSignaled) {
    SendWr wr;
    wr.wr_id = wr_id, wr.sg_list = {&sge, 1}, wr.opcode = WorkOpcode::RdmaWrite;
    wr.send_flags = flags, wr.remote_addr = to, wr.rkey = b.mr.rkey;
    return wr;
  }
  std::vector<Wc> poll(Side& side) {
    run();
    std::vector<Wc> wcs(64);
    wcs.resize(side.verbs.poll_cq(*side.cq, wcs));
    return wcs;
  }
};
Side::Side(Pair& owner, unsigned number)
    : device(
          {[this](u64 at, std::span<u8> to) { return memory.read(at, to.data(), to.size()), true; },
           [this](u64 at, std::span<const u8> from) {
             memory.write(at, from.data(), from.size());
             return true;
           },
           [&owner, number](u32, std::span<const u8> frame) {
             owner.frames.push_back({1 - number, {frame.begin(), frame.end()}});
           }}),
      verbs(memory, [this](u32 offset, std::span<const u8> data) {
        doorbells.push_back(offset);
        device.mmio_write(offset, data);
      }) {}

std::vector<u8> counting(std::size_t n, u8 from) {
  std::vector<u8> bytes(n);
  std::iota(bytes.begin(), bytes.end(), from);
  return bytes;
}
std::vector<u8> read(const Side& side, u64 at, std::size_t n) {
  std::vector<u8> bytes(n);
  side.memory.read(at, bytes.data(), n);
  return bytes;
}
}  // namespace

TEST_CASE("a WRITE moves its bytes and completes with its wr_id", "[verbs]") {
  Pair pair;
  pair.connect();
  const auto data = counting(3000, 5);
  pair.a.memory.write(pair.a.mr.addr, data);
  const SgeList sge{pair.a.mr.addr, 3000, pair.a.mr.lkey};
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, pair.write(77, sge, pair.b.mr.addr + 11)) ==
          Error::None);
  const auto wcs = pair.poll(pair.a);
  REQUIRE(wcs.size() == 1);
  CHECK(wcs[0].wr_id == 77);
  CHECK(wcs[0].status == WcStatus::Success);
  CHECK(wcs[0].opcode == proto::CqeOpcode::RdmaWrite);
  CHECK(wcs[0].qp_num == pair.a.qp->qpn);
  CHECK(read(pair.b, pair.b.mr.addr + 11, 3000) == data);
  CHECK(pair.poll(pair.b).empty());
}

TEST_CASE("a SEND with immediate scatters into the receive and completes on both sides",
          "[verbs]") {
  QpInitAttr caps;
  caps.max_recv_sge = caps.max_send_sge = 2;
  Pair pair(caps);
  pair.connect();
  const auto data = counting(100, 1);
  pair.a.memory.write(pair.a.mr.addr, data);
  const SgeList in[2] = {{pair.b.mr.addr, 30, pair.b.mr.lkey},
                         {pair.b.mr.addr + 1000, 200, pair.b.mr.lkey}};
  REQUIRE(pair.b.verbs.post_recv(*pair.b.qp, {9, in}) == Error::None);
  const SgeList out[2] = {{pair.a.mr.addr, 60, pair.a.mr.lkey},
                          {pair.a.mr.addr + 60, 40, pair.a.mr.lkey}};
  SendWr wr;
  wr.wr_id = 8, wr.sg_list = out, wr.opcode = WorkOpcode::SendImmediate;
  wr.send_flags = kSignaled | kSolicited, wr.imm_data = 0x1234;
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == Error::None);
  const auto sent = pair.poll(pair.a), received = pair.poll(pair.b);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].wr_id == 8);
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 9);
  CHECK(received[0].opcode == proto::CqeOpcode::Receive);
  CHECK(received[0].byte_len == 100);
  CHECK(received[0].with_imm);
  CHECK(received[0].imm_data == 0x1234);
  CHECK(read(pair.b, pair.b.mr.addr, 30) == counting(30, 1));
  CHECK(read(pair.b, pair.b.mr.addr + 1000, 70) == counting(70, 31));
}

TEST_CASE("inline data is taken when the request is posted", "[verbs]") {
  QpInitAttr caps;
  caps.max_inline_data = 64;
  Pair pair(caps);
  pair.connect();
  pair.a.memory.write(pair.a.mr.addr, counting(64, 1));
  const SgeList sge{pair.a.mr.addr, 64, 0xdead};  // the key of inline data means nothing
  for (const bool push : {false, true}) {
    SendWr wr = pair.write(1, sge, pair.b.mr.addr, kSignaled | kInline);
    wr.push = push;
    pair.a.doorbells.clear();
    REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == Error::None);
    CHECK(pair.a.doorbells == std::vector<u32>{push ? 0x800u : 0u});
    pair.a.memory.fill(pair.a.mr.addr, 0, 64);
    CHECK(pair.poll(pair.a).size() == 1);
    CHECK(read(pair.b, pair.b.mr.addr, 64) == counting(64, 1));
    pair.a.memory.write(pair.a.mr.addr, counting(64, 1));
    pair.b.memory.fill(pair.b.mr.addr, 0, 64);
  }
}

TEST_CASE("requests that cannot be posted give errno's values at once", "[verbs]") {
  QpInitAttr caps;
  caps.max_send_wr = caps.max_recv_wr = 4, caps.max_inline_data = 32;
  Pair pair(caps);
  VerbsContext& verbs = pair.a.verbs;
  Qp& qp = *pair.a.qp;
  const SgeList sge{pair.a.mr.addr, 33, pair.a.mr.lkey}, two[2] = {sge, sge};
  const SendWr good = pair.write(1, sge, pair.b.mr.addr);
  CHECK(verbs.post_send(qp, good) == Error::Invalid);  // Reset
  CHECK(verbs.post_recv(qp, {1, {&sge, 1}}) == Error::Invalid);
  pair.connect();
  CHECK(verbs.post_send(qp, pair.write(1, sge, 0, kInline)) == Error::NoMemory);  // 33 > 32
  SendWr wide = good;
  wide.sg_list = two;
  CHECK(verbs.post_send(qp, wide) == Error::Invalid);
  CHECK(verbs.post_recv(qp, {1, two}) == Error::Invalid);
  std::vector<SendWr> five(5, good);
  std::size_t bad = 99;
  CHECK(verbs.post_send(qp, five, &bad) == Error::NoMemory);
  CHECK(bad == 4);
  CHECK(pair.poll(pair.a).size() == 4);  // those before it were posted
  for (int i = 0; i < 4; ++i) CHECK(verbs.post_recv(qp, {1, {&sge, 1}}) == Error::None);
  CHECK(verbs.post_recv(qp, {1, {&sge, 1}}) == Error::NoMemory);
}

TEST_CASE("a signalled completion frees the unsignalled requests in front of it", "[verbs]") {
  QpInitAttr caps;
  caps.max_send_wr = 4;
  Pair pair(caps);
  pair.connect();
  const SgeList sge{pair.a.mr.addr, 8, pair.a.mr.lkey};
  for (u64 turn = 0; turn < 5; ++turn) {
    for (u64 i = 0; i < 4; ++i)
      REQUIRE(pair.a.verbs.post_send(*pair.a.qp, pair.write(10 * turn + i, sge, pair.b.mr.addr,
                                                            i == 3 ? u32(kSignaled) : 0)) ==
              Error::None);
    pair.run();
    CHECK(VerbsContext::free_send_slots(*pair.a.qp) == 0);
    const auto wcs = pair.poll(pair.a);
    REQUIRE(wcs.size() == 1);
    CHECK(wcs[0].wr_id == 10 * turn + 3);
    CHECK(VerbsContext::free_send_slots(*pair.a.qp) == 4);
  }
}

TEST_CASE("completion queue and work queue wrap many times", "[verbs]") {
  QpInitAttr caps;
  caps.max_send_wr = 4;
  Pair pair(caps);
  pair.connect();
  const SgeList sge{pair.a.mr.addr, 8, pair.a.mr.lkey};
  for (u64 i = 0; i < 70'000; ++i) {  // more than 2^16 indices
    REQUIRE(pair.a.verbs.post_send(*pair.a.qp, pair.write(i, sge, pair.b.mr.addr)) == Error::None);
    const auto wcs = pair.poll(pair.a);
    REQUIRE(wcs.size() == 1);
    REQUIRE(wcs[0].wr_id == i);
    REQUIRE(wcs[0].status == WcStatus::Success);
  }
}

TEST_CASE("a wrong R_Key ends the queue pair in Error and flushes what follows", "[verbs][G20.2]") {
  Pair pair;
  pair.connect();
  const SgeList sge{pair.a.mr.addr, 8, pair.a.mr.lkey};
  SendWr wrong = pair.write(1, sge, pair.b.mr.addr);
  wrong.rkey ^= 1;
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wrong) == Error::None);
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, pair.write(2, sge, pair.b.mr.addr)) == Error::None);
  const auto wcs = pair.poll(pair.a);
  REQUIRE(wcs.size() == 2);
  CHECK(wcs[0].wr_id == 1);
  CHECK(wcs[0].status == WcStatus::RemAccessErr);
  CHECK(wcs[1].wr_id == 2);
  CHECK(wcs[1].status == WcStatus::WrFlushErr);
  CHECK(pair.a.qp->state == QpState::Error);
  CHECK(pair.a.verbs.query_qp(*pair.a.qp).state == QpState::Error);
}

TEST_CASE("a refused transition changes nothing", "[verbs]") {
  Pair pair;
  CHECK(pair.modify(pair.a, QpState::Rts, 0) == Error::Invalid);
  CHECK(pair.a.verbs.last_status() == proto::CommandStatus::BadState);
  CHECK(pair.a.qp->state == QpState::Reset);
  CHECK(pair.a.verbs.query_qp(*pair.a.qp).state == QpState::Reset);
}

TEST_CASE("a device that never answers a command is an error, not a hang", "[verbs]") {
  tlm_::HostMemory memory;
  VerbsContext verbs(memory, [](u32, std::span<const u8>) {});
  int steps = 0;
  verbs.set_step([&] { return ++steps < 10; });
  CHECK_THROWS_AS(verbs.create_cq(1), std::runtime_error);
  CHECK(steps == 10);
}

// The device is the test: its message is there after so many steps, of which each but the last
// says that more is to do.
TEST_CASE("waiting for an interrupt steps the device until it comes or nothing is left to do",
          "[verbs]") {
  tlm_::HostMemory memory;
  const CompChannel channel = [] {
    CompChannel c;
    c.message = 0x1000;
    return c;
  }();
  u32 steps = 0, comes_in = 0, ends_in = 0;
  VerbsContext verbs(memory, [](u32, std::span<const u8>) {});
  verbs.set_step([&] {
    const u32 message = 1;
    if (++steps == comes_in) memory.write(channel.message, &message, sizeof message);
    return steps != ends_in;
  });
  const auto wait = [&](u32 comes, u32 ends) {
    steps = 0, comes_in = comes, ends_in = ends;
    return verbs.wait_interrupt(channel);
  };
  CHECK(wait(3, 9));
  CHECK(steps == 3);
  CHECK_FALSE(verbs.take_interrupt(channel));  // it is taken
  CHECK_FALSE(wait(0, 4));
  CHECK(steps == 4);
  CHECK(wait(4, 4));  // with the last thing there was to do
  CHECK(steps == 4);
}

TEST_CASE("objects can be destroyed once", "[verbs]") {
  Pair pair;
  CHECK(pair.a.verbs.dereg_mr(pair.a.mr) == Error::None);
  CHECK(pair.a.verbs.dereg_mr(pair.a.mr) == Error::Invalid);
  CHECK(pair.a.verbs.destroy_qp(*pair.a.qp) == Error::None);
  CHECK(pair.a.verbs.destroy_qp(*pair.a.qp) == Error::Invalid);
}
}  // namespace hca::testbench

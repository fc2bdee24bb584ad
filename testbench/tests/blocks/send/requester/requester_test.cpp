// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/requester.h"

#include <catch2/catch.hpp>

#include "testbench/tests/blocks/bench.h"

using namespace hca;
using namespace hca::test;

namespace {
// The requester with its packetizer. Messages are WRITEs without data: one packet each, which needs
// no read.
struct RequesterBench : Bench {
  explicit RequesterBench(const RequesterConfig& c, u32 buffers = 32,
                          const Plan<Acknowledgement>& acks = {}, Cycle faults_from = 0)
      : config(c), packetizer_config{.latency = 4, .interval = 1, .buffers = buffers} {
    set_up(contexts, 3);
    add(requester, "requester");
    packetizer.ports[0].buffers.connect(requester.self, "packet buffers");
    turn_buffers.connect(requester.self, "turn buffers");
    requester.turns.buffers = &turn_buffers;
    feed(requester.acks_in.add(), requester, acks);
    completions = &take(requester.outputs.completions_out, requester);
    notes = &take(requester.outputs.notes_out, requester);
    faults = &take(requester.outputs.faults_out, requester, faults_from ? 1 : 4, faults_from,
                   "requester faults");  // as in the chip, for scripts/try_wakeups.py
    works = &take(requester.outputs.works_out, requester, faults_from ? 1 : 4, faults_from,
                  "local work");
    take(requester.outputs.responses_out, requester);
    requester.response_data.placed_in.connect(requester.self, requester.self, "placed responses");
    reads = &take(packetizer.dma_out, requester);
    packets = &take(packetizer.ports[0].not_read_out, requester);
  }
  // When the packets would have asked for their payload: the port sees them two cycles later.
  Cycles asked() const {
    Cycles cycles;
    for (const Cycle seen : packets->seen) cycles.push_back(seen - 2);
    return cycles;
  }
  // `count` messages of each of the first queue pairs, which the requester sees in cycle `at`,
  // those of the second one a cycle later.
  void post(Cycle at, u32 count, u32 qps = 1) {
    Plan<Turn*> plan;
    for (u32 qpn = 1; qpn <= qps; ++qpn) {
      Turn* t = pool.take();
      t->qpn = qpn, t->count = count;
      for (u32 i = 0; i < count; ++i) {
        proto::SendWqe w{};
        w.opcode = proto::WorkOpcode::RdmaWrite, w.signaled = true, w.index = u16(i), w.rkey = kKey;
        proto::encode(w, t->wqes.data() + i * 128);
      }
      turn_buffers.take();
      plan.push_back({at, t});
    }
    feed(requester.turns_in, requester, plan);
  }
  // One WQE of each queue pair.
  void post_each(Cycle at, proto::WorkOpcode opcode, u16 index) {
    Plan<Turn*> plan;
    for (u32 qpn = 1; qpn <= 3; ++qpn) {
      Turn* t = pool.take();
      t->qpn = qpn, t->count = 1;
      proto::SendWqe w{};
      w.opcode = opcode, w.index = index;
      proto::encode(w, t->wqes.data());
      turn_buffers.take();
      plan.push_back({at, t});
    }
    feed(requester.turns_in, requester, plan);
  }
  RequesterConfig config;
  PacketizerConfig packetizer_config;
  device::Contexts contexts;
  QpContext context{{.latency = 2, .interval = 1}, contexts};
  Protection protection{{.latency = 2, .interval = 1}, contexts};
  Packetizer packetizer{packetizer_config, 400'000'000, protection, release(TxStart::Threshold)};
  Requester requester{config, 400'000'000, context, contexts, protection, packetizer, accesses};
  engine::Budget turn_buffers{4};
  Pool<Turn> pool;
  Taker<Completed, 8>* completions = nullptr;
  Taker<Packet*, kMostPackets>* packets = nullptr;
  Taker<DmaRequest, 8>* reads = nullptr;  // of payloads
  Taker<SchedulerNote, 8>* notes = nullptr;
  Taker<Fault, 4>* faults = nullptr;
  Taker<device::LocalWork, 4>* works = nullptr;
};
}  // namespace

// A packet cut in n leaves the requester in n + 2 (context) + 2 (key) + latency and the packetizer
// 4 cycles later.
TEST_CASE("packets enter the packetizer after look-ups and latency, an interval apart",
          "[requester]") {
  RequesterBench bench({.latency = 4, .interval = 3}), later({.latency = 5, .interval = 3});
  bench.post(10, 3), later.post(10, 3);
  bench.domain.run_until(100), later.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 4 + 4 + 4, 13 + 12, 16 + 12});
  CHECK(later.asked() == Cycles{10 + 4 + 5 + 4, 13 + 13, 16 + 13});
}

TEST_CASE("without a packet buffer the requester is blocked at n - 1 and ready at n",
          "[requester]") {
  RequesterBench bench({.latency = 4, .interval = 1}, 1);
  bench.post(10, 2);
  bench.plan({{50, [&] { bench.packetizer.ports[0].buffers.give(60); }}});
  bench.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 12, 60 + 12});
}

TEST_CASE("an acknowledgement completes what it covers, one work request a cycle",
          "[requester][G12.1]") {
  // PSNs 100, 101, 102; seen in 40, the first CQE is pushed in 40 and seen in 41.
  RequesterBench bench({}, 32, {{40, {1, 102, 3, 0x1f}}});
  bench.post(10, 3);
  bench.domain.run_until(100);
  CHECK(bench.completions->seen == Cycles{41, 42, 43});
}

// Turns of queue pairs 1, 2 and 3 that were read are seen in 10, 11 and 12, and one of queue pair 1
// that was not read in 11: it is taken before that of queue pair 2, which waits for 12, and the
// third waits for 13.
// A queue pair that has completed all acknowledged work keeps its place until its next turn: by
// then another ACK may be here, and it goes before those that came later.
TEST_CASE("queue pairs with acknowledged work requests complete one each in turn",
          "[requester][G12.1]") {
  RequesterBench bench({.latency = 4, .interval = 1}, 32,
                       {{60, {2, 103, 4, 0x1f}}, {61, {1, 100, 1, 0x1f}}, {64, {1, 101, 2, 0x1f}}});
  bench.post(10, 4, 2);
  bench.domain.run_until(100);
  CHECK(bench.completions->seen == Cycles{61, 62, 63, 64, 65, 66});
  std::vector<std::pair<u32, u32>> completed;
  for (const Completed& c : bench.completions->items)
    completed.emplace_back(c.cqe.qpn, c.cqe.wqe_index);
  CHECK(completed ==
        std::vector<std::pair<u32, u32>>{{2, 0}, {2, 1}, {1, 0}, {2, 2}, {1, 1}, {2, 3}});
}

TEST_CASE("of turns that were read and others the one that is seen first is taken", "[requester]") {
  RequesterBench bench({.latency = 4, .interval = 1});
  Turn* t = bench.pool.take();
  t->qpn = 1, t->first = 1, t->count = 1;
  proto::SendWqe w{};
  w.opcode = proto::WorkOpcode::RdmaWrite, w.index = 1, w.rkey = kKey;
  proto::encode(w, t->wqes.data());
  bench.turn_buffers.take();
  bench.feed(bench.requester.not_read_in, bench.requester, {{11, t}});
  bench.post(10, 1, 3);
  bench.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 12, 11 + 12, 12 + 12, 13 + 12});
  std::vector<u32> qpns;
  for (const Packet* p : bench.packets->items) qpns.push_back(p->qpn);
  CHECK(qpns == std::vector<u32>{1, 1, 2, 3});
}

// Six packets of 1024 bytes, cut 20 cycles apart. Behind the third a command changes the context:
// P_Key, DestQP and hop limit of all that follow are others.
TEST_CASE("packets in the middle of a message follow a context that changes", "[requester]") {
  RequesterBench bench({.latency = 4, .interval = 20});
  proto::QpConfig& qp = bench.contexts.qps[1];
  qp.path_mtu = 1024;
  Turn* t = bench.pool.take();
  t->qpn = 1, t->count = 1;
  proto::SendWqe w{};
  w.opcode = proto::WorkOpcode::RdmaWrite, w.rkey = kKey, w.remote_va = kData, w.sge_count = 1;
  proto::encode(w, t->wqes.data());
  proto::encode(proto::Sge{kData, kKey, 6 * 1024}, t->wqes.data() + proto::kSendWqeBytes);
  bench.turn_buffers.take();
  bench.feed(bench.requester.turns_in, bench.requester, {{10, t}});
  bench.plan({{60, [&] {
                 qp.pkey = 0x8123, qp.dest_qpn = 77, qp.path.head[22] = 9;
                 qp.path.ipv4_sum -= (64 - 9) << 8;
                 ++bench.contexts.version;
               }}});
  bench.domain.run_until(200);
  REQUIRE(bench.reads->items.size() == 6);
  for (u32 i = 0; i < 6; ++i) {
    INFO("packet " << i);
    const Packet& p = *static_cast<const Packet*>(bench.reads->items[i].context);
    const bool behind = i >= 3;
    const u8* const bth = p.frame() + 42;
    CHECK(bth[0] == (i == 0 ? 0x06 : i == 5 ? 0x08 : 0x07));  // First, Middle, Last
    CHECK(proto::load_be<2>(bth + 2) == (behind ? 0x8123u : 0xffffu));
    CHECK(proto::load_be<4>(bth + 4) == (behind ? 77u : 1u));
    CHECK(proto::load_be<4>(bth + 8) == (i == 5 ? 0x80000000u : 0u) + 100 + i);
    CHECK(p.frame()[22] == (behind ? 9 : 64));
    CHECK(p.shape.payload_offset == (i == 0 ? 70 : 54));
    CHECK(p.shape.payload_bytes == 1024);
    // IPv4: 20 + UDP 8 + BTH 12 + RETH 16 + 1024 + ICRC 4; its words add up to ones.
    CHECK(proto::load_be<2>(p.frame() + 16) == (i == 0 ? 1084u : 1068u));
    u64 sum = 0;
    for (u32 at = 14; at < 34; at += 2) sum += proto::load_be<2>(p.frame() + at);
    CHECK((sum & 0xffff) + (sum >> 16) == 0xffff);
  }
}

// One packet each, cut 20 cycles apart: the difference from the previous message is in the headers,
// whether it comes from the WQE or, before the last message, from the context.
TEST_CASE("messages of one packet have the headers of their own WQE and context", "[requester]") {
  struct Sent {
    proto::WorkOpcode opcode;
    u32 bytes;
    u64 va;
    u32 rkey, immediate;
    bool solicited;
    u8 code, flags;  // BTH: OpCode; SE, MigReq, PadCnt, TVer
    u32 headers, ip_bytes;
  };
  using enum proto::WorkOpcode;
  // IPv4: 20 + UDP 8 + BTH 12 + RETH 16 (+ ImmDt 4) + payload and pad + ICRC 4.
  const std::vector<Sent> all{
      {RdmaWrite, 100, 0x1000, 0x700, 0, false, 0x0a, 0x40, 70, 160},
      {RdmaWrite, 100, 0x123456789abc, 0x801, 0, false, 0x0a, 0x40, 70, 160},
      {RdmaWriteImmediate, 100, 0x2000, 0x801, 0x11112222, false, 0x0b, 0x40, 74, 164},
      {RdmaWriteImmediate, 100, 0x3000, 0x801, 0x33334444, false, 0x0b, 0x40, 74, 164},
      {RdmaWriteImmediate, 100, 0x3000, 0x801, 0x33334444, true, 0x0b, 0xc0, 74, 164},
      {RdmaWriteImmediate, 101, 0x4000, 0x801, 0x55556666, true, 0x0b, 0xf0, 74, 168},
      {RdmaWriteImmediate, 101, 0x4000, 0x801, 0x55556666, true, 0x0b, 0xf0, 74, 168},
  };
  RequesterBench bench({.latency = 4, .interval = 20});
  proto::QpConfig& qp = bench.contexts.qps[1];
  Turn* t = bench.pool.take();
  t->qpn = 1, t->count = u32(all.size());
  for (u32 i = 0; i < all.size(); ++i) {
    const Sent& m = all[i];
    proto::SendWqe w{};
    w.opcode = m.opcode, w.index = u16(i), w.sge_count = 1, w.solicited = m.solicited;
    w.remote_va = m.va, w.rkey = m.rkey, w.immediate = m.immediate;
    u8* const at = t->wqes.data() + i * 128;
    proto::encode(w, at);
    proto::encode(proto::Sge{kData, kKey, m.bytes}, at + proto::kSendWqeBytes);
  }
  bench.turn_buffers.take();
  bench.feed(bench.requester.turns_in, bench.requester, {{10, t}});
  bench.plan({{10 + 20 * 5 + 10, [&] { qp.dest_qpn = 77, ++bench.contexts.version; }}});
  bench.domain.run_until(300);
  REQUIRE(bench.reads->items.size() == all.size());
  for (u32 i = 0; i < all.size(); ++i) {
    INFO("message " << i);
    const Sent& m = all[i];
    const Packet& p = *static_cast<const Packet*>(bench.reads->items[i].context);
    const u8* const bth = p.frame() + 42;
    CHECK(bth[0] == m.code);
    CHECK(bth[1] == m.flags);
    CHECK(proto::load_be<4>(bth + 4) == (i == 6 ? 77u : 1u));
    CHECK(proto::load_be<4>(bth + 8) == 0x80000000u + 100 + i);
    CHECK(proto::load_be<8>(bth + 12) == m.va);
    CHECK(proto::load_be<4>(bth + 20) == m.rkey);
    CHECK(proto::load_be<4>(bth + 24) == m.bytes);
    if (m.immediate) CHECK(proto::load_be<4>(bth + 28) == m.immediate);
    CHECK(p.shape.payload_offset == m.headers);
    CHECK(p.shape.payload_bytes == m.bytes);
    CHECK(proto::load_be<2>(p.frame() + 16) == m.ip_bytes);
    u64 sum = 0;
    for (u32 at = 14; at < 34; at += 2) sum += proto::load_be<2>(p.frame() + at);
    CHECK((sum & 0xffff) + (sum >> 16) == 0xffff);
  }
}

// Its queue pair is in error a cycle later, without a word of command: the turn is given back, then
// the rest of the queue is to be flushed.
TEST_CASE("WQEs that cannot be read end in a flush a cycle later", "[requester][C9-216]") {
  RequesterBench bench({});
  Turn* t = bench.pool.take();
  t->qpn = 1, t->count = 1, t->unreadable = true;
  bench.turn_buffers.take();
  bench.feed(bench.requester.turns_in, bench.requester, {{10, t}});
  bench.domain.run_until(100);
  CHECK(bench.notes->seen == Cycles{12, 13});
  CHECK((bench.notes->items.at(0).kind == NoteKind::TurnDone &&
         bench.notes->items.at(1).kind == NoteKind::Flush));
}

TEST_CASE("of a queue pair that leaves SQE the scheduler hears in the next cycle", "[requester]") {
  RequesterBench bench({});
  bench.feed(bench.requester.turns_in, bench.requester, {});
  bench.plan({{100, [&] { bench.requester.recover(1); }}});
  bench.domain.run_until(200);
  CHECK(bench.notes->seen == Cycles{102});
  CHECK(bench.notes->items.at(0).kind == NoteKind::Rewind);
}

// The same of work requests that it executes.
TEST_CASE("work requests that wait for command follow each other", "[requester][G22.6]") {
  RequesterBench bench({}, 32, {}, 500);
  bench.post_each(10, proto::WorkOpcode::LocalInvalidate, 0);
  bench.domain.run_until(600);
  CHECK(bench.works->seen == Cycles{500, 502, 504});
}

// One fault has room; the next is seen two cycles after each that is taken.
TEST_CASE("faults that wait for command follow each other", "[requester]") {
  RequesterBench bench({}, 32, {}, 500);
  bench.post_each(10, proto::WorkOpcode::RdmaWrite, 9);  // a wrong index
  bench.domain.run_until(600);
  CHECK(bench.faults->seen == Cycles{500, 502, 504});
}

// A WRITE without data is a frame of 14 + 20 + 8 + 12 + 16 + 4 = 74 bytes, 98 on the wire: at 1
// Gb/s 784 ns, 313.6 cycles. Four cut in 10 follow each other at 10, 323.6, 637.2, 950.8; what is
// posted late is not caught up.
TEST_CASE("a rate limit spaces the packets of a queue pair", "[requester][pace]") {
  RequesterBench bench({});
  bench.contexts.qps[1].rate_limit = 1'000'000;  // kb/s
  bench.post(10, 4);
  bench.domain.run_until(3000);
  const Cycle first = 10 + 4 + 4 + 4;
  CHECK(bench.asked() == Cycles{first, first + 314, first + 628, first + 941});
}

// The queue pair is reset while it waits for 324; what it sends in its next life in 150 lets the
// next one go in 150 + 313.6.
TEST_CASE("a rate limit that was waited for before a reset holds up nothing", "[requester][pace]") {
  RequesterBench bench({});
  bench.contexts.qps[1].rate_limit = 1'000'000;  // kb/s
  bench.post(10, 2);
  bench.plan({{100, [&] { bench.requester.clear(1); }}});
  Turn* t = bench.pool.take();
  t->qpn = 1, t->first = 1, t->count = 2, t->epoch = 1u << 16;
  for (u32 i = 0; i < 2; ++i) {
    proto::SendWqe w{};
    w.opcode = proto::WorkOpcode::RdmaWrite, w.index = u16(1 + i), w.rkey = kKey;
    proto::encode(w, t->wqes.data() + i * 128);
  }
  bench.turn_buffers.take();
  bench.feed(bench.requester.not_read_in, bench.requester, {{150, t}});
  bench.domain.run_until(2000);
  CHECK(bench.asked() == Cycles{10 + 12, 150 + 12, 464 + 12});
}

TEST_CASE("an engine cuts a packet every engine_interval cycles", "[requester][engines]") {
  RequesterBench bench({.latency = 4, .interval = 1, .engine_interval = 10});
  bench.post(10, 3);
  bench.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 12, 20 + 12, 30 + 12});
}

// Queue pairs 1 and 3 have one engine, 2 the other one. Their first turns are seen in 10, 11 and
// 12; the second packet of queue pair 1 waits since 10, the first one of 3 since 12.
TEST_CASE("queue pairs of different engines are cut side by side", "[requester][engines]") {
  RequesterBench bench({.latency = 4, .interval = 1, .engines = 2, .engine_interval = 10});
  bench.post(10, 2, 3);
  bench.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 12, 11 + 12, 20 + 12, 21 + 12, 30 + 12, 40 + 12});
}

// The interval of the block is that of all engines together.
TEST_CASE("engines share the requester's interval", "[requester][engines]") {
  RequesterBench bench({.latency = 4, .interval = 4, .engines = 3, .engine_interval = 6});
  bench.post(10, 2, 3);
  bench.domain.run_until(100);
  CHECK(bench.asked() == Cycles{10 + 12, 14 + 12, 18 + 12, 22 + 12, 26 + 12, 30 + 12});
}

// The first numbers of SplitMix64 from the states 0 and 1, as its authors publish them, end with
// 0xaf and 0xc1.
TEST_CASE("queue pairs are given to engines by number or by a hash", "[requester][engines]") {
  const Engines modulo(4, 1, EngineAssignment::Modulo), hash(16, 1, EngineAssignment::Hash);
  CHECK(std::array{modulo.of(3), modulo.of(4), modulo.of(9)} == std::array{3u, 0u, 1u});
  CHECK(std::array{hash.of(0), hash.of(1)} == std::array{15u, 1u});
}

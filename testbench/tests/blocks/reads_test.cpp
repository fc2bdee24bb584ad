// SPDX-License-Identifier: Apache-2.0
// READ and ATOMIC between two chips.
#include <catch2/catch.hpp>
#include <set>

#include "testbench/tests/blocks/pair.h"

using namespace hca;
using namespace hca::test;
using proto::WcStatus;
using proto::WorkOpcode;

namespace {
u64 word(Pair& pair, Pair::Side& side, u64 offset) {
  return proto::load_le8(pair.data(side, offset));
}
}  // namespace

TEST_CASE("a READ brings its bytes, whatever its length", "[chip][READ-1][G1.2]") {
  const u32 bytes = GENERATE(0u, 1u, 1023u, 1024u, 1025u, 3079u);
  Pair pair{PairConfig{}};
  pair.a.host.plan = {
      {.opcode = WorkOpcode::RdmaRead, .local = 64, .remote = 4096, .bytes = bytes, .sges = 3}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(pair.a.host.sent[0].opcode == proto::CqeOpcode::RdmaRead);
  CHECK(pair.a.host.sent[0].byte_len == bytes);
  CHECK(!std::memcmp(pair.data(pair.a, 64), pair.data(pair.b, 4096), bytes));
  CHECK(pair.a.sent_frames.size() == 1);
  // ceil(bytes / 1024) response packets, at least one; nothing else comes back.
  CHECK(pair.b.sent_frames.size() == std::max(1u, (bytes + 1023) / 1024));
}

TEST_CASE("the PSNs of a READ are those of its responses", "[chip][G1.2][G2.2]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .remote = 4096, .bytes = 3000},
                      {.remote = 65536, .bytes = 8}};
  finish(pair);
  check_success(pair.a.host.sent, 2);
  // The READ takes PSN 100 to 102, the WRITE after it 103.
  REQUIRE(pair.a.sent_frames.size() == 2);
  CHECK(pair.a.sent_frames[0].second == 100);
  CHECK(pair.a.sent_frames[1].second == 103);
  REQUIRE(pair.b.sent_frames.size() == 4);
  for (u32 i = 0; i < 4; ++i) CHECK(pair.b.sent_frames[i].second == 100 + i);
}

TEST_CASE("FetchAdd adds modulo 2^64 and returns what was there", "[chip][ATOM-7][ATOM-9]") {
  Pair pair{PairConfig{}};
  proto::store_le8(pair.data(pair.b, 4096), ~u64{0});
  pair.a.host.plan = {
      {.opcode = WorkOpcode::FetchAdd, .local = 8, .remote = 4096, .bytes = 8, .operand = 3},
      {.opcode = WorkOpcode::FetchAdd, .local = 16, .remote = 4096, .bytes = 8, .operand = 40}};
  finish(pair);
  check_success(pair.a.host.sent, 2);
  CHECK(word(pair, pair.a, 8) == ~u64{0});
  CHECK(word(pair, pair.a, 16) == 2);  // 2^64 - 1 + 3
  CHECK(word(pair, pair.b, 4096) == 42);
}

TEST_CASE("CmpSwap writes only where it finds what it compares with", "[chip][ATOM-8][ATOM-9]") {
  Pair pair{PairConfig{}};
  proto::store_le8(pair.data(pair.b, 4096), 7);
  pair.a.host.plan = {{.opcode = WorkOpcode::CompareSwap,
                       .local = 8,
                       .remote = 4096,
                       .bytes = 8,
                       .operand = 9,
                       .compare = 7},
                      {.opcode = WorkOpcode::CompareSwap,
                       .local = 16,
                       .remote = 4096,
                       .bytes = 8,
                       .operand = 11,
                       .compare = 7}};
  finish(pair);
  check_success(pair.a.host.sent, 2);
  CHECK(word(pair, pair.a, 8) == 7);
  CHECK(word(pair, pair.a, 16) == 9);
  CHECK(word(pair, pair.b, 4096) == 9);
}

TEST_CASE("ATOMICs of several queue pairs are indivisible", "[chip][ATOM-2]") {
  PairConfig config;
  config.qps = 5;
  Pair pair{config};
  proto::store_le8(pair.data(pair.b, 4096), 0);
  for (u32 i = 0; i < 100; ++i)
    pair.a.host.plan.push_back({.opcode = WorkOpcode::FetchAdd,
                                .qpn = 1 + i % 5,
                                .local = i * 8,
                                .remote = 4096,
                                .bytes = 8,
                                .operand = 1});
  finish(pair);
  check_success(pair.a.host.sent, 100);
  CHECK(word(pair, pair.b, 4096) == 100);
  std::set<u64> originals;
  for (u32 i = 0; i < 100; ++i) originals.insert(word(pair, pair.a, i * 8));
  CHECK(originals.size() == 100);  // 0 to 99, each once
  CHECK(*originals.rbegin() == 99);
}

TEST_CASE("a READ sees the WRITE before it", "[chip][G30.3]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {
      {.local = 0, .remote = 4096, .bytes = 5000},
      {.opcode = WorkOpcode::RdmaRead, .local = 65536, .remote = 4096, .bytes = 5000}};
  finish(pair);
  CHECK(!std::memcmp(pair.data(pair.a, 0), pair.data(pair.a, 65536), 5000));
}

TEST_CASE("a lost READ response is asked for again from the first missing PSN on",
          "[chip][G11.5][G12.4][G3.3]") {
  Pair pair{PairConfig{}};
  bool lost = false;
  pair.b.loses = [&](const Packet& p) { return p.psn == 102 && !std::exchange(lost, true); };
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .local = 64, .remote = 4096, .bytes = 5000}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(!std::memcmp(pair.data(pair.a, 64), pair.data(pair.b, 4096), 5000));
  CHECK(pair.a.chip.requester.counters.implied_naks == 1);
  REQUIRE(pair.a.sent_frames.size() == 2);
  CHECK(pair.a.sent_frames[1].second == 102);
  CHECK(pair.b.chip.responder_execute.counters.repeated == 1);
  CHECK(pair.b.sent_frames.size() == 5 + 3);  // PSN 100 to 104, then 102 to 104
}

TEST_CASE("a lost ATOMIC Acknowledge is repeated, the ATOMIC is not",
          "[chip][ATOM-22][ATOM-25][G3.4]") {
  Pair pair{PairConfig{}};
  proto::store_le8(pair.data(pair.b, 4096), 5);
  bool lost = false;
  pair.b.loses = [&](const Packet&) { return !std::exchange(lost, true); };
  pair.a.host.plan = {
      {.opcode = WorkOpcode::FetchAdd, .local = 8, .remote = 4096, .bytes = 8, .operand = 1}};
  finish(pair);
  check_success(pair.a.host.sent, 1);
  CHECK(word(pair, pair.a, 8) == 5);
  CHECK(word(pair, pair.b, 4096) == 6);
  CHECK(pair.b.chip.responder_execute.counters.atomics == 1);
  CHECK(pair.b.chip.responder_execute.counters.repeated == 1);
}

TEST_CASE("an ACK that passes a missing READ response is an implied NAK", "[chip][G12.3]") {
  Pair pair{PairConfig{}};
  bool lost = false;
  pair.b.loses = [&](const Packet& p) { return p.psn == 100 && !std::exchange(lost, true); };
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .local = 64, .remote = 4096, .bytes = 100},
                      {.remote = 65536, .bytes = 8}};
  finish(pair);
  check_success(pair.a.host.sent, 2);
  CHECK(pair.a.chip.requester.counters.implied_naks == 1);
  CHECK(pair.a.chip.requester.counters.timeouts == 0);
  // READ 100, WRITE 101, and both again.
  REQUIRE(pair.a.sent_frames.size() == 4);
  CHECK(pair.a.sent_frames[2].second == 100);
}

TEST_CASE("a fenced WRITE waits for the READ before it", "[chip][G30.1]") {
  for (const bool fence : {false, true}) {
    Pair pair{PairConfig{}};
    pair.a.host.plan = {
        {.opcode = WorkOpcode::RdmaRead, .local = 64, .remote = 4096, .bytes = 8000},
        {.local = 64, .remote = 65536, .bytes = 8000, .fence = fence}};
    finish(pair);
    check_success(pair.a.host.sent, 2);
    // With the fence the WRITE sends what the READ brought.
    CHECK(!std::memcmp(pair.data(pair.b, 4096), pair.data(pair.b, 65536), 8000) == fence);
  }
}

TEST_CASE("no more READs are under way than max_rd_atomic", "[chip][G29.1]") {
  const u8 limit = GENERATE(u8(1), u8(3));
  PairConfig config;
  config.max_rd_atomic = config.max_dest_rd_atomic = limit;
  Pair pair{config};
  for (u32 i = 0; i < 9; ++i)
    pair.a.host.plan.push_back(
        {.opcode = WorkOpcode::RdmaRead, .local = i * 1024, .remote = i * 2048, .bytes = 1000});
  finish(pair);
  check_success(pair.a.host.sent, 9);
  CHECK(pair.b.chip.ports[0]->responder_check.counters.too_many_reads == 0);
  // READ n leaves when READ n - limit is back.
  for (u32 i = limit; i < 9; ++i)
    CHECK(pair.a.sent_frames[i].first > pair.b.sent_frames[i - limit].first);
  if (limit > 1) return;
  // Each waits from its turn on, `interval` after the one before; the second WQE is not here then,
  // but within eight cycles.
  const Cycle all = pair.a.sent_frames[8].first - pair.a.sent_frames[0].first;
  const Cycle most = all - 8 * config.chip.requester.interval;
  const Cycle waited = pair.a.chip.requester.counters.waits_reads;
  CHECK((waited <= most && waited >= most - 8));
}

TEST_CASE("more READs or ATOMICs than the responder allows are an invalid request",
          "[chip][T10-4/RC]") {
  const WorkOpcode opcode = GENERATE(WorkOpcode::RdmaRead, WorkOpcode::FetchAdd);
  PairConfig config;
  config.max_rd_atomic = 4, config.max_dest_rd_atomic = 1;
  Pair pair{config};
  for (u32 i = 0; i < 4; ++i)
    pair.a.host.plan.push_back({.opcode = opcode,
                                .local = i * 8192,
                                .remote = i * 8192,
                                .bytes = opcode == WorkOpcode::FetchAdd ? 8u : 8000u});
  pair.run();
  CHECK(pair.b.chip.ports[0]->responder_check.counters.too_many_reads == 1);
  REQUIRE(pair.a.host.sent.size() == 4);
  CHECK(pair.a.host.sent[0].status == WcStatus::Success);
  CHECK(pair.a.host.sent[1].status == WcStatus::RemInvReqErr);
  CHECK(pair.a.host.sent[2].status == WcStatus::WrFlushErr);
}

TEST_CASE("rights: the queue pair's are an invalid request, the key's an access error",
          "[chip][G31.1][G22.2]") {
  for (const u8 access : {0x0b, 0x0f}) {
    PairConfig config;
    config.access = access;
    Pair pair{config};
    const bool queue_pair_allows = access & proto::kRemoteRead;
    if (queue_pair_allows) pair.b.chip.contexts.regions[1].access = 0x0b;
    pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .remote = 4096, .bytes = 8}};
    pair.run();
    REQUIRE(pair.a.host.sent.size() == 1);
    CHECK(pair.a.host.sent[0].status ==
          (queue_pair_allows ? WcStatus::RemAccessErr : WcStatus::RemInvReqErr));
  }
}

TEST_CASE("a misaligned ATOMIC is an invalid request", "[chip][ATOM-6][T10-3/RC]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.opcode = WorkOpcode::FetchAdd, .remote = 4100, .bytes = 8}};
  pair.run();
  REQUIRE(pair.a.host.sent.size() == 1);
  CHECK(pair.a.host.sent[0].status == WcStatus::RemInvReqErr);
}

TEST_CASE("SEND with Invalidate takes the key of a fast register region away, of no other",
          "[chip][INV-12][INV-19][G10.1][G10.3][G21.4]") {
  Pair pair{PairConfig{}};
  auto& regions = pair.b.chip.contexts.regions;
  regions.resize(3);
  regions[2] = regions[1];
  regions[2].key = 0x207, regions[2].access |= proto::kFastRegister;
  pair.b.host.post_receives(1, 4, 4096);
  // The second finds the key gone, which is no error; the third names a region of RegisterMr.
  pair.a.host.plan = {{.opcode = WorkOpcode::SendInvalidate, .bytes = 100, .immediate = 0x207},
                      {.opcode = WorkOpcode::SendInvalidate, .bytes = 100, .immediate = 0x207},
                      {.opcode = WorkOpcode::SendInvalidate, .bytes = 100, .immediate = kKey}};
  pair.run();
  INFO(pair.report());
  CHECK(regions[2].state == proto::KeyState::Free);
  CHECK(regions[1].state == proto::KeyState::Valid);
  REQUIRE(pair.b.host.received.size() == 4);
  for (u32 i = 0; i < 2; ++i) {
    CHECK(pair.b.host.received[i].status == WcStatus::Success);
    CHECK(pair.b.host.received[i].with_invalidate);
    CHECK(pair.b.host.received[i].immediate == 0x207);
  }
  // Class J: no NAK, the receive WQE ends in error, the rest is flushed.
  CHECK(pair.b.host.received[2].status == WcStatus::RemInvReqErr);
  CHECK(pair.b.host.received[3].status == WcStatus::WrFlushErr);
  CHECK(pair.b.chip.responder_reply.counters.naks == 0);
}

TEST_CASE("a READ of two queue pairs at once shares the way packet by packet", "[chip]") {
  PairConfig config;
  config.qps = 2;
  Pair pair{config};
  for (u32 qpn = 1; qpn <= 2; ++qpn)
    pair.a.host.plan.push_back({.opcode = WorkOpcode::RdmaRead,
                                .qpn = qpn,
                                .local = qpn * 0x20000,
                                .remote = qpn * 0x40000,
                                .bytes = 64 * 1024});
  finish(pair);
  check_success(pair.a.host.sent, 2);
  // 64 packets each: the one that came first does not keep the other waiting to its end.
  const Cycle apart = pair.a.host.sent_at[1] - pair.a.host.sent_at[0];
  CHECK(apart < 200);
}

TEST_CASE("READs of one queue pair do not wait for each other's data", "[chip][G29.1]") {
  PairConfig config;
  config.max_rd_atomic = config.max_dest_rd_atomic = 8;
  config.chip.qp_scheduler.turns = 8;  // nor for each other's WQEs
  Pair pair{config};
  for (u32 i = 0; i < 8; ++i)
    pair.a.host.plan.push_back(
        {.opcode = WorkOpcode::RdmaRead, .local = i * 64, .remote = i * 64, .bytes = 64});
  finish(pair);
  check_success(pair.a.host.sent, 8);
  // Host memory is 120 cycles away, there and back: all eight responses leave within less.
  REQUIRE(pair.b.sent_frames.size() == 8);
  CHECK(pair.b.sent_frames[7].first - pair.b.sent_frames[0].first < 120);
}

TEST_CASE("a WRITE with Immediate to a bad key takes its receive WQE along", "[chip][T11]") {
  Pair pair{PairConfig{}};
  pair.b.chip.contexts.regions[1].access = proto::kLocalWrite;
  pair.b.host.post_receives(1, 2, 4096);
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaWriteImmediate, .remote = 4096, .bytes = 64}};
  pair.run();
  pair.advance(5000);
  REQUIRE(pair.b.host.received.size() == 2);
  CHECK(pair.b.host.received[0].status == WcStatus::LocAccessErr);
  CHECK(pair.b.host.received[0].wqe_index == 0);
  CHECK(pair.b.host.received[1].status == WcStatus::WrFlushErr);
  CHECK(pair.b.host.received[1].wqe_index == 1);
  REQUIRE(pair.a.host.sent.size() == 1);
  CHECK(pair.a.host.sent[0].status == WcStatus::RemAccessErr);
}

TEST_CASE("a READ whose buffer's key goes meanwhile fails and writes nothing", "[chip][T9-15]") {
  Pair pair{PairConfig{}};
  pair.a.host.plan = {{.opcode = WorkOpcode::RdmaRead, .local = 64, .remote = 4096, .bytes = 64}};
  const std::vector<u8> before(pair.data(pair.a, 64), pair.data(pair.a, 128));
  pair.advance(300);  // the request is on its way, the response is not back (latency_test.cpp)
  REQUIRE(pair.a.sent_frames.size() == 1);
  pair.a.chip.contexts.regions[1].state = proto::KeyState::Free;
  finish(pair);
  REQUIRE(pair.a.host.sent.size() == 1);
  CHECK(pair.a.host.sent[0].status == WcStatus::LocProtErr);
  CHECK(!std::memcmp(before.data(), pair.data(pair.a, 64), 64));
}

TEST_CASE("a duplicate READ that nothing answers leaves the READ before it alone",
          "[chip][G3.3][T10-7/RC]") {
  PairConfig config;
  config.timeout = 0;
  Pair pair{config};
  pair.a.loses = [](const Packet&) { return true; };  // the test speaks for A
  const proto::QpConfig& from = pair.a.chip.contexts.qps[1];
  PacketPool pool;
  const auto read = [&](u32 psn, u32 bytes, Cycle at) {
    proto::SendWqe wqe{};
    wqe.opcode = WorkOpcode::RdmaRead, wqe.remote_va = kData, wqe.rkey = kKey;
    proto::SentMessage m;
    m.first_psn = psn, m.bytes = bytes, m.packets = proto::psns_of(bytes, config.path_mtu);
    m.opcode = wqe.opcode, m.answer = proto::Answer::Read;
    const proto::PacketPlan plan = proto::plan_packet(from, wqe, m, 0);
    proto::ExtHeaders ext;
    proto::request_headers(ext, wqe, {}, m, plan);
    Packet* p = pool.take();
    proto::write_headers(from.path, *plan.row, proto::request_bth(from, plan), ext, 0, p->frame());
    p->shape = proto::shape_of(from.path, *plan.row, 0);
    p->frame_bytes = proto::finish_frame(p->frame(), p->shape);
    pair.b.chip.ports[0]->receive.arrive(p, at);
  };
  read(100, 4096, 100);  // PSN 100 to 103
  read(90, 64, 110);     // after ePSN, and never executed
  read(104, 64, 120);
  pair.advance(2000);
  REQUIRE(pair.b.sent_frames.size() == 5);
  for (u32 i = 0; i < 5; ++i) CHECK(pair.b.sent_frames[i].second == 100 + i);
  CHECK(pair.b.chip.responder_execute.counters.not_saved == 1);
}

// SPDX-License-Identifier: Apache-2.0
// READ: what is brought, its PSNs, repetitions and refusals. Path MTU 256; the first PSN is
// 0xfffffe, so the third packet has PSN 0.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::kFence;
using testbench::kSignaled;
using Frames = std::vector<std::pair<u32, u32>>;

namespace {

// Fills B's buffer with bytes that A's does not hold.
void fill_b(Pair& pair) {
  for (u32 i = 0; i < 4096; ++i) {
    const u8 byte = u8(200 - i * 3 - (i >> 8));
    pair.b.memory.write(Pair::kBuffer + i, &byte, 1);
  }
}
u64 requests(const Pair& pair, RequestCause cause) {
  return pair.b.hca.port_counters().requests[std::size_t(cause)];
}
}  // namespace

TEST_CASE("a READ brings its bytes in as many packets as they take",
          "[functional][READ-1][G1.2][G2.2][G5.2]") {
  struct Row {
    u32 bytes;
    Frames responses;
    u32 next_psn;  // of the WRITE after it
  };
  // MTU 256: 255 and 256 are one packet, 257 two, 3 * 256 + 7 = 775 four.
  const Row row = GENERATE(values<Row>({
      {0, {{kReadOnly, 0xfffffe}}, 0xffffff},
      {1, {{kReadOnly, 0xfffffe}}, 0xffffff},
      {255, {{kReadOnly, 0xfffffe}}, 0xffffff},
      {256, {{kReadOnly, 0xfffffe}}, 0xffffff},
      {257, {{kReadFirst, 0xfffffe}, {kReadLast, 0xffffff}}, 0},
      {775, {{kReadFirst, 0xfffffe}, {kReadMiddle, 0xffffff}, {kReadMiddle, 0}, {kReadLast, 1}}, 2},
  }));
  CAPTURE(row.bytes);
  Pair pair(reading());
  fill_b(pair);
  pair.post(WorkOpcode::RdmaRead, 5, {pair.from_a(2000, row.bytes)}, kSignaled, Pair::kBuffer + 33);
  pair.post(WorkOpcode::RdmaWrite, 6, {pair.from_a(0, 4)}, kSignaled, Pair::kBuffer + 5000);
  pair.carry();
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kReadRequest, 0xfffffe}, {0x0a, row.next_psn}});
  Frames expected = row.responses;
  expected.emplace_back(0x11, row.next_psn);
  CHECK(opcodes_and_psns(pair.log_b) == expected);
  const ParsedPacket request = parsed(pair.log_a[0]);
  CHECK(request.reth.va == Pair::kBuffer + 33);
  CHECK(request.reth.dma_len == row.bytes);
  CHECK(request.bth.ack_req);
  // G5.2: the READ is message 1, the WRITE 2.
  CHECK(parsed(pair.log_b.front()).aeth.msn == 1);
  CHECK(parsed(pair.log_b.back()).aeth.msn == 2);
  CHECK(pair.a.bytes(Pair::kBuffer + 2000, row.bytes) ==
        pair.b.bytes(Pair::kBuffer + 33, row.bytes));
  CHECK(pair.a.bytes(Pair::kBuffer + 2000 + row.bytes, 1)[0] == u8((2000 + row.bytes) * 7 + 3));
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(results(done) == Results{{5, WcStatus::Success}, {6, WcStatus::Success}});
  CHECK(done[0].byte_len == row.bytes);
  CHECK(done[0].opcode == CqeOpcode::RdmaRead);
}

TEST_CASE("a READ is scattered over its SGEs", "[functional][G12.5]") {
  Pair pair(reading());
  fill_b(pair);
  pair.post(WorkOpcode::RdmaRead, 1,
            {pair.from_a(10, 100), pair.from_a(50, 0), pair.from_a(1000, 200)});
  pair.carry();
  CHECK(pair.a.bytes(Pair::kBuffer + 10, 100) == pair.b.bytes(Pair::kBuffer, 100));
  CHECK(pair.a.bytes(Pair::kBuffer + 1000, 200) == pair.b.bytes(Pair::kBuffer + 100, 200));
  CHECK(pair.a.bytes(Pair::kBuffer + 110, 1)[0] == u8(110 * 7 + 3));
}

TEST_CASE("a part of a READ is answered again from First or Only on, with the current MSN",
          "[functional][G3.3][G3.5]") {
  Pair pair(reading());
  fill_b(pair);
  // 600 bytes: PSNs fffffe, ffffff, 0 with 256, 256 and 88 bytes.
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 600)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4)}, kSignaled, Pair::kBuffer + 5000);
  pair.carry();
  const u32 key = pair.mr_b.rkey;
  const auto rest =
      answers(pair, pair.frame(kReadRequest, 0xffffff, reth(Pair::kBuffer + 256, key, 344)));
  CHECK(opcodes_and_psns(rest) == Frames{{kReadFirst, 0xffffff}, {kReadLast, 0}});
  CHECK(parsed(rest[0]).aeth.msn == 2);
  const auto middle =
      answers(pair, pair.frame(kReadRequest, 0xffffff, reth(Pair::kBuffer + 256, key, 256)));
  CHECK(opcodes_and_psns(middle) == Frames{{kReadOnly, 0xffffff}});
  CHECK(std::vector<u8>(middle[0].begin() + 58, middle[0].begin() + 58 + 256) ==
        pair.b.bytes(Pair::kBuffer + 256, 256));
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).rq_psn == 2);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).msn == 2);
}

TEST_CASE("a repeated READ that is no part of what is held is dropped", "[functional][T10-7/RC]") {
  Pair pair(reading());
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 600)});
  pair.carry();
  const u32 key = pair.mr_b.rkey;
  // The second packet of the READ is at VA + 256 and has 344 bytes to go.
  const auto [va, bytes, rkey] =
      GENERATE_COPY(table<u64, u32, u32>({{Pair::kBuffer + 255, 344, key},
                                          {Pair::kBuffer + 256, 345, key},
                                          {Pair::kBuffer + 256, 344, key + 1}}));
  CHECK(answers(pair, pair.frame(kReadRequest, 0xffffff, reth(va, rkey, bytes))).empty());
  CHECK(requests(pair, RequestCause::NotSaved) == 1);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Rts);
}

TEST_CASE("a repeated READ whose key is gone is dropped", "[functional][READ-14][T10-7/RC]") {
  Pair pair(reading());
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 600)});
  pair.carry();
  REQUIRE(pair.b.verbs.dereg_mr(pair.mr_b) == testbench::Error::None);
  CHECK(answers(pair, pair.frame(kReadRequest, 0xfffffe, reth(Pair::kBuffer, pair.mr_b.rkey, 600)))
            .empty());
}

TEST_CASE("a READ pushed out by newer ones is not answered again",
          "[functional][G29.1][T10-7/RC]") {
  Pair pair(reading(2));
  for (u64 id = 1; id <= 3; ++id) pair.post(WorkOpcode::RdmaRead, id, {pair.from_a(0, 4)});
  pair.carry();
  const u32 key = pair.mr_b.rkey;
  CHECK(answers(pair, pair.frame(kReadRequest, 0xfffffe, reth(Pair::kBuffer, key, 4))).empty());
  CHECK(answers(pair, pair.frame(kReadRequest, 0xffffff, reth(Pair::kBuffer, key, 4))).size() == 1);
}

TEST_CASE("after a lost response a READ goes on at its middle", "[functional][G12.4][G11.5]") {
  Pair pair(reading());
  fill_b(pair);
  pair.lost_from_b = [](u32 n) { return n == 1; };
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 775)});
  pair.carry();
  // Responses fffffe, ffffff (lost), 0: implied NAK, once; the rest is asked for again.
  REQUIRE(opcodes_and_psns(pair.log_a) ==
          Frames{{kReadRequest, 0xfffffe}, {kReadRequest, 0xffffff}});
  CHECK(parsed(pair.log_a[1]).reth.va == Pair::kBuffer + 256);
  CHECK(parsed(pair.log_a[1]).reth.dma_len == 775 - 256);
  CHECK(opcodes_and_psns(pair.log_b) == Frames{{kReadFirst, 0xfffffe},
                                               {kReadMiddle, 0xffffff},
                                               {kReadMiddle, 0},
                                               {kReadLast, 1},
                                               {kReadFirst, 0xffffff},
                                               {kReadMiddle, 0},
                                               {kReadLast, 1}});
  CHECK(pair.a.bytes(Pair::kBuffer, 775) == pair.b.bytes(Pair::kBuffer, 775));
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a READ whose last response is lost comes again when the timer fires",
          "[functional][G11.3][G11.5]") {
  Pair pair(reading());
  fill_b(pair);
  pair.lost_from_b = [](u32 n) { return n == 2; };
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 600)});
  pair.carry();
  REQUIRE(pair.a.hca.next_timer() == 67'108'864);  // 4.096 us * 2^14
  pair.a.hca.advance_to(67'108'864);
  pair.carry();
  // PSN 0 is the third: 88 bytes at offset 512.
  REQUIRE(opcodes_and_psns(pair.log_a) == Frames{{kReadRequest, 0xfffffe}, {kReadRequest, 0}});
  CHECK(parsed(pair.log_a[1]).reth.va == Pair::kBuffer + 512);
  CHECK(parsed(pair.log_a[1]).reth.dma_len == 88);
  CHECK(pair.a.bytes(Pair::kBuffer, 600) == pair.b.bytes(Pair::kBuffer, 600));
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("an ACK beyond a READ without its response is an implied NAK", "[functional][G12.3]") {
  Pair pair(reading());
  fill_b(pair);
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 8)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(100, 4)}, kSignaled, Pair::kBuffer + 5000);
  pair.carry();
  // The response of fffffe is lost, the ACK of ffffff comes: both are sent again.
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kReadRequest, 0xfffffe},
                                               {0x0a, 0xffffff},
                                               {kReadRequest, 0xfffffe},
                                               {0x0a, 0xffffff}});
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
  CHECK(pair.a.bytes(Pair::kBuffer, 8) == pair.b.bytes(Pair::kBuffer, 8));
}

TEST_CASE("a response to a later READ is an implied NAK too, and its data are not taken",
          "[functional][G12.4]") {
  Pair pair(reading());
  fill_b(pair);
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 8)});
  pair.post(WorkOpcode::RdmaRead, 2, {pair.from_a(100, 8)}, kSignaled, Pair::kBuffer + 64);
  pair.carry();
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kReadRequest, 0xfffffe},
                                               {kReadRequest, 0xffffff},
                                               {kReadRequest, 0xfffffe},
                                               {kReadRequest, 0xffffff}});
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
  CHECK(pair.a.bytes(Pair::kBuffer + 100, 8) == pair.b.bytes(Pair::kBuffer + 64, 8));
}

TEST_CASE("an implied NAK costs a retry", "[functional][T9-4/RC]") {
  PairOptions options = reading();
  options.retry_count = 0;
  Pair pair(options);
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 8)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4)});
  pair.carry();
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::RetryExcErr}, {2, WcStatus::WrFlushErr}});
}

TEST_CASE("max_rd_atomic holds READs back until one is answered", "[functional][G29.1]") {
  Pair pair(reading(2));
  for (u64 id = 1; id <= 4; ++id) pair.post(WorkOpcode::RdmaRead, id, {pair.from_a(0, 8)});
  pair.post(WorkOpcode::RdmaWrite, 5, {pair.from_a(0, 4)});
  CHECK(pair.a.sent.size() == 2);  // and the WRITE stays after the third READ
  pair.carry();
  CHECK(pair.log_a.size() == 5);
  CHECK(pair.a.poll(pair.a.send_cq).size() == 5);
}

TEST_CASE("a fenced WR waits for the READs before it, one without does not",
          "[functional][G30.1][G30.2]") {
  Pair pair(reading());
  const bool fenced = GENERATE(false, true);
  pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, 8)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 8)}, kSignaled | (fenced ? kFence : 0u),
            Pair::kBuffer + 5000);
  CHECK(pair.a.sent.size() == (fenced ? 1 : 2));
  fill_b(pair);
  pair.carry();
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
  // What the fenced WRITE sends is what the READ brought.
  if (fenced) CHECK(pair.b.bytes(Pair::kBuffer + 5000, 8) == pair.b.bytes(Pair::kBuffer, 8));
}

TEST_CASE("READs that may not be are refused",
          "[functional][G31.1][T10-2/RC][T10-4/RC][T10-5/RC]") {
  struct Row {
    const char* why;
    u8 access, depth, key_access;
    u64 va;
    u32 bytes;
    u8 syndrome;
  };
  constexpr u64 end = Pair::kBuffer + 4096;
  const Row row = GENERATE_COPY(values<Row>({
      {"the QP forbids READs", kRemoteWrite, 4, kRemoteRead, Pair::kBuffer, 8, 0x61},
      {"no READ may be outstanding", kRemoteRead, 0, kRemoteRead, Pair::kBuffer, 8, 0x61},
      {"the key forbids READs", kRemoteRead, 4, kRemoteWrite, Pair::kBuffer, 8, 0x62},
      {"one byte beyond the region", kRemoteRead, 4, kRemoteRead, end - 7, 8, 0x62},
      {"in front of the region", kRemoteRead, 4, kRemoteRead, Pair::kBuffer - 1, 8, 0x62},
      {"longer than 2^31", kRemoteRead, 4, kRemoteRead, Pair::kBuffer, 0x80000001, 0x61},
  }));
  CAPTURE(row.why);
  PairOptions options = reading();
  options.access = row.access, options.max_dest_rd_atomic = row.depth;
  Pair pair(options);
  const testbench::Mr mr =
      pair.b.verbs.reg_mr(Pair::kBuffer, 4096, u8(kLocalWrite | row.key_access));
  const auto nak =
      answers(pair, pair.frame(kReadRequest, 0xfffffe, reth(row.va, mr.rkey, row.bytes), 0, true));
  REQUIRE(nak.size() == 1);
  CHECK(parsed(nak[0]).bth.opcode == 0x11);
  CHECK(parsed(nak[0]).bth.psn == 0xfffffe);
  CHECK(parsed(nak[0]).aeth.syndrome == row.syndrome);
  CHECK(parsed(nak[0]).aeth.msn == 0);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Error);
}

TEST_CASE("a READ of nothing needs no key", "[functional][G22.3]") {
  Pair pair(reading());
  const auto all = answers(pair, pair.frame(kReadRequest, 0xfffffe, reth(0x1234, 0x5678, 0)));
  CHECK(opcodes_and_psns(all) == Frames{{kReadOnly, 0xfffffe}});
}

TEST_CASE("a READ into memory without local write fails at its response",
          "[functional][T9-15/RC]") {
  Pair pair(reading());
  const testbench::Mr closed = pair.a.verbs.reg_mr(u64{1} << 33, 4096, 0);
  pair.post(WorkOpcode::RdmaRead, 1, {{closed.addr, 8, closed.lkey}});
  pair.carry();
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::LocProtErr}});
}
}  // namespace hca::functional

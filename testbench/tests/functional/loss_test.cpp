// SPDX-License-Identifier: Apache-2.0
// Loss, timers and errors of both sides.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using Frames = std::vector<std::pair<u32, u32>>;

TEST_CASE("a gap draws one NAK, and go-back-N repeats from it", "[functional][G2.3][G11.4]") {
  Pair pair;
  pair.lost_from_a = [](u32 n) { return n == 1; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 4 * 256)});
  pair.carry();
  // First, Middle (lost), Middle, Last; then again from the lost one.
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{0x06, 0xfffffe},
                                               {0x07, 0xffffff},
                                               {0x07, 0},
                                               {0x08, 1},
                                               {0x07, 0xffffff},
                                               {0x07, 0},
                                               {0x08, 1}});
  REQUIRE(pair.log_b.size() == 2);
  const ParsedPacket nak = parsed(pair.log_b[0]), ack = parsed(pair.log_b[1]);
  CHECK(nak.aeth.syndrome == 0x60);
  CHECK(nak.bth.psn == 0xffffff);
  CHECK(nak.aeth.msn == 0);
  CHECK(ack.aeth.syndrome == 0x00);  // no receive WQE is posted: credit code 0
  CHECK(ack.bth.psn == 1);
  CHECK(pair.b.bytes(Pair::kBuffer, 1024) == pair.a.bytes(Pair::kBuffer, 1024));
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a lost ACK is replaced when the transport timer fires", "[functional][G11.3]") {
  Pair pair;
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  pair.carry();
  // 4.096 us * 2^14
  REQUIRE(pair.a.hca.next_timer() == 67'108'864);
  pair.a.hca.advance_to(67'108'863);
  CHECK(pair.a.sent.empty());
  pair.a.hca.advance_to(67'108'864);
  CHECK(pair.a.sent.size() == 1);
  pair.carry();
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
  CHECK_FALSE(pair.a.hca.next_timer());
}

TEST_CASE("progress restarts the transport timer and reloads the retry counter",
          "[functional][G11.1][G11.6]") {
  PairOptions options;
  options.retry_count = 1;
  Pair pair(options);
  pair.lost_from_b = [](u32 n) { return n == 1; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  pair.a.hca.advance_to(1'000'000);
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 10)});
  pair.a.hca.advance_to(2'000'000);
  pair.carry();
  CHECK(pair.a.hca.next_timer() == 2'000'000 + 67'108'864);
}

TEST_CASE("without an answer the WQE fails after retry_count repetitions, the rest is flushed",
          "[functional][C9-212][G20.2]") {
  PairOptions options;
  options.retry_count = 3;
  Pair pair(options);
  pair.lost_from_a = [](u32) { return true; };
  for (u64 id = 1; id <= 3; ++id) pair.post(WorkOpcode::RdmaWrite, id, {pair.from_a(0, 10)}, 0);
  pair.carry();
  u32 fired = 0;
  for (; pair.a.hca.next_timer(); ++fired) {
    pair.a.hca.advance_to(*pair.a.hca.next_timer());
    pair.carry();
  }
  CHECK(fired == 4);
  CHECK(pair.log_a.size() == 3 * (1 + 3));
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::RetryExcErr}, {2, WcStatus::WrFlushErr}, {3, WcStatus::WrFlushErr}});
  CHECK(pair.a.verbs.query_qp(*pair.a.qp).state == QpState::Error);
  CHECK(pair.post(WorkOpcode::RdmaWrite, 4, {pair.from_a(0, 10)}, 0) == testbench::Error::None);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{4, WcStatus::WrFlushErr}});
}

TEST_CASE("a SEND without a receive WQE waits the RNR time and comes again",
          "[functional][G8.1][G8.2][G8.3]") {
  Pair pair;
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 10)});
  pair.carry();
  REQUIRE(pair.log_b.size() == 1);
  CHECK(parsed(pair.log_b[0]).aeth.syndrome == 0x2c);  // timer code 12
  CHECK(parsed(pair.log_b[0]).bth.psn == 0xfffffe);
  REQUIRE(pair.a.hca.next_timer() == 640'000);  // T5: code 12 is 0.64 ms
  pair.post_receive(9, {pair.into_b(0, 64)});
  pair.a.hca.advance_to(640'000);
  pair.carry();
  CHECK(pair.log_a.size() == 2);
  CHECK(results(pair.b.poll(pair.b.recv_cq)) == Results{{9, WcStatus::Success}});
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a sequence NAK does not shorten the RNR wait", "[functional][G8.2]") {
  Pair pair;
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 10)});
  pair.carry();
  // What some responders send for the next packet: the same PSN, syndrome 0x60.
  std::vector<u8> nak = pair.log_b.at(0);
  nak[54] = 0x60;
  const ParsedPacket p = parsed(nak);
  const u32 icrc = icrc_of(nak.data(), p);
  for (u32 i = 0; i < 4; ++i) nak[p.icrc_offset + i] = u8(icrc >> 8 * i);
  pair.a.hca.receive(nak);
  CHECK(pair.a.sent.empty());
  CHECK(pair.a.hca.next_timer() == 640'000);
}

TEST_CASE("RNR retries end", "[functional][G8.2]") {
  PairOptions options;
  options.rnr_retry = 2;
  Pair pair(options);
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 10)});
  pair.carry();
  while (pair.a.hca.next_timer()) {
    pair.a.hca.advance_to(*pair.a.hca.next_timer());
    pair.carry();
  }
  CHECK(pair.log_a.size() == 3);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::RnrRetryExcErr}});
}

TEST_CASE("a WRITE outside of the region fails both ends", "[functional][T10-5/RC][G7.4]") {
  Pair pair;
  pair.post_receive(7, {pair.into_b(0, 64)});
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)}, 0,
            Pair::kBuffer + Pair::kBufferBytes - 9);
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 10)}, 0);
  pair.carry();
  REQUIRE(pair.log_b.size() == 1);
  CHECK(parsed(pair.log_b[0]).aeth.syndrome == 0x62);
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::RemAccessErr}, {2, WcStatus::WrFlushErr}});
  CHECK(results(pair.b.poll(pair.b.recv_cq)) == Results{{7, WcStatus::WrFlushErr}});
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Error);
  CHECK(pair.b.bytes(Pair::kBuffer, 10) == std::vector<u8>(10));
}

TEST_CASE("a SEND longer than its receive WQE fails both ends", "[functional][T10-16/RC]") {
  Pair pair;
  pair.post_receive(7, {pair.into_b(0, 300)}), pair.post_receive(8, {pair.into_b(0, 300)});
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 301)});
  pair.carry();
  REQUIRE(pair.log_b.size() == 1);
  CHECK(parsed(pair.log_b[0]).aeth.syndrome == 0x61);
  CHECK(parsed(pair.log_b[0]).bth.psn == 0xffffff);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::RemInvReqErr}});
  CHECK(results(pair.b.poll(pair.b.recv_cq)) ==
        Results{{7, WcStatus::LocLenErr}, {8, WcStatus::WrFlushErr}});
}

TEST_CASE("a bad L_Key fails its WQE after those in front of it", "[functional][C9-214]") {
  Pair pair;
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  pair.post(WorkOpcode::RdmaWrite, 2, {{Pair::kBuffer, 10, pair.mr_a.lkey ^ 1}});
  pair.post(WorkOpcode::RdmaWrite, 3, {pair.from_a(0, 10)});
  CHECK(pair.a.poll(pair.a.send_cq).empty());
  pair.carry();
  CHECK(pair.log_a.size() == 1);
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::LocProtErr}, {3, WcStatus::WrFlushErr}});
}

TEST_CASE("a receive buffer without local write fails with 0x63", "[functional][T10-1/RC]") {
  Pair pair;
  const testbench::Mr closed = pair.b.verbs.reg_mr(u64{1} << 33, 4096, kRemoteRead);
  pair.post_receive(7, {{closed.addr, 64, closed.lkey}});
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 10)});
  pair.carry();
  CHECK(parsed(pair.log_b.at(0)).aeth.syndrome == 0x63);
  CHECK(results(pair.b.poll(pair.b.recv_cq)) == Results{{7, WcStatus::LocProtErr}});
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::RemOpErr}});
}

TEST_CASE("what is not addressed right is dropped and counted", "[functional][C9-37][C9-43]") {
  Pair pair;
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10)});
  std::vector<u8> frame = pair.a.sent.front();
  frame[frame.size() - 6] ^= 1;  // before the ICRC
  pair.b.hca.receive(frame);
  CHECK(pair.b.hca.drops().bad_icrc == 1);
  frame.resize(30);
  pair.b.hca.receive(frame);
  CHECK(pair.b.hca.drops().truncated == 1);
  CHECK(pair.b.sent.empty());
}
}  // namespace hca::functional

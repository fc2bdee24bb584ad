// SPDX-License-Identifier: Apache-2.0
// What goes well: data, packets, acknowledgements and completions.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::kInline;
using testbench::kSignaled;
using testbench::Wc;
using Frames = std::vector<std::pair<u32, u32>>;

TEST_CASE("a WRITE of any length arrives at each path MTU", "[functional][WRITE-5][WRITE-6]") {
  const u32 mtu = GENERATE(256u, 512u, 1024u, 2048u, 4096u);
  const u32 bytes = GENERATE_COPY(0u, 1u, 3u, mtu - 1, mtu, mtu + 1, 3 * mtu + 7);
  PairOptions options;
  options.path_mtu = mtu;
  Pair pair(options);
  REQUIRE(pair.post(WorkOpcode::RdmaWrite, 5, {pair.from_a(9, bytes)}, kSignaled,
                    Pair::kBuffer + 100) == testbench::Error::None);
  pair.carry();
  CHECK(pair.b.bytes(Pair::kBuffer + 100, bytes) == pair.a.bytes(Pair::kBuffer + 9, bytes));
  CHECK(pair.b.bytes(Pair::kBuffer + 100 + bytes, 1) == std::vector<u8>{0});
  CHECK(pair.log_a.size() == std::max(1u, (bytes + mtu - 1) / mtu));
  CHECK(pair.log_b.size() == 1);
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(done.size() == 1);
  CHECK(done[0].wr_id == 5);
  CHECK(done[0].status == WcStatus::Success);
  CHECK(done[0].opcode == CqeOpcode::RdmaWrite);
  CHECK(done[0].byte_len == bytes);
  CHECK(pair.b.poll(pair.b.recv_cq).empty());
}

TEST_CASE("a SEND is gathered from several pieces and scattered into others",
          "[functional][G23.1]") {
  Pair pair;
  pair.post_receive(70, {pair.into_b(1, 5), pair.into_b(50, 0), pair.into_b(1000, 600)});
  pair.post(WorkOpcode::Send, 6, {pair.from_a(3, 2), pair.from_a(40, 0), pair.from_a(100, 500)});
  pair.carry();
  // SEND First, Middle?, Last: 502 bytes at 256 are two packets; PSNs wrap at 2^24.
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{0x00, 0xfffffe}, {0x02, 0xffffff}});
  CHECK(opcodes_and_psns(pair.log_b) == Frames{{0x11, 0xffffff}});
  auto expected = pair.a.bytes(Pair::kBuffer + 3, 2);
  const auto rest = pair.a.bytes(Pair::kBuffer + 100, 500);
  expected.insert(expected.end(), rest.begin(), rest.end());
  auto got = pair.b.bytes(Pair::kBuffer + 1, 5);
  const auto got_rest = pair.b.bytes(Pair::kBuffer + 1000, 497);
  got.insert(got.end(), got_rest.begin(), got_rest.end());
  CHECK(got == expected);
  const auto received = pair.b.poll(pair.b.recv_cq);
  REQUIRE(received.size() == 1);
  CHECK(received[0].wr_id == 70);
  CHECK(received[0].byte_len == 502);
  CHECK(received[0].opcode == CqeOpcode::Receive);
}

TEST_CASE("inline data are those of the moment of the post", "[functional]") {
  Pair pair;
  const auto before = pair.a.bytes(Pair::kBuffer, 61);
  // The doorbell is rung by post_send, so the packet leaves at once; a lost one is sent again.
  pair.lost_from_a = [](u32 n) { return n == 0; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 61)}, kSignaled | kInline);
  pair.carry();
  pair.a.memory.fill(Pair::kBuffer, 0xee, 61);
  pair.a.hca.advance_to(*pair.a.hca.next_timer());
  pair.carry();
  CHECK(pair.b.bytes(Pair::kBuffer, 61) == before);
}

TEST_CASE("a WRITE with Immediate takes a receive WQE and says DMALen", "[functional][G21.4]") {
  Pair pair;
  pair.post_receive(8, {});
  pair.post(WorkOpcode::RdmaWriteImmediate, 1, {pair.from_a(0, 300)});
  pair.carry();
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{0x06, 0xfffffe}, {0x09, 0xffffff}});
  const auto received = pair.b.poll(pair.b.recv_cq);
  REQUIRE(received.size() == 1);
  CHECK(received[0].opcode == CqeOpcode::ReceiveRdmaImmediate);
  CHECK(received[0].byte_len == 300);
  CHECK(received[0].with_imm);
  CHECK(received[0].imm_data == 0x12345678);
}

TEST_CASE("an unsignalled success makes no CQE, the next signalled one does",
          "[functional][G21.1]") {
  Pair pair;
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 4)}, 0);
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4)}, kSignaled);
  pair.carry();
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(done.size() == 1);
  CHECK(done[0].wr_id == 2);
}

TEST_CASE("an ACK carries the PSN that it acknowledges and the MSN", "[functional][G4.1][G5.2]") {
  Pair pair;
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 600)});
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4)});
  pair.carry();
  REQUIRE(pair.log_b.size() == 2);
  const ParsedPacket first = parsed(pair.log_b[0]), second = parsed(pair.log_b[1]);
  CHECK(first.bth.psn == 0);  // 0xfffffe, 0xffffff, 0
  CHECK(first.aeth.msn == 1);
  CHECK(first.aeth.syndrome == 0x00);  // no receive WQE is posted: credit code 0
  CHECK(second.bth.psn == 1);
  CHECK(second.aeth.msn == 2);
}

TEST_CASE("a doubled packet is answered and executed once", "[functional][G3.1][G3.5]") {
  Pair pair;
  pair.post_receive(1, {pair.into_b(0, 64)}), pair.post_receive(2, {pair.into_b(0, 64)});
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 8)});
  pair.carry();
  pair.b.hca.receive(pair.log_a[0]);
  REQUIRE(pair.b.sent.size() == 1);
  const ParsedPacket again = parsed(pair.b.sent[0]);
  CHECK(again.bth.psn == 0xfffffe);  // ePSN - 1
  CHECK(again.aeth.msn == 1);
  CHECK(pair.b.poll(pair.b.recv_cq).size() == 1);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).rq_consumed == 1);
}

TEST_CASE("an armed CQ raises one completion event", "[functional][G21.2]") {
  Pair pair;
  constexpr u64 ring = u64{1} << 40;
  pair.b.verbs.begin(CommandOpcode::CreateEq, 3, QueueAttributes{ring, 4, 0});
  pair.b.verbs.begin(CommandOpcode::CreateCq, 40, QueueAttributes{ring + 4096, 4, 3});
  testbench::Cq cq{40, 4, ring + 4096, 0, 0};
  testbench::QpInitAttr init;
  init.send_cq = init.recv_cq = &cq;
  pair.b.qp = pair.b.verbs.create_qp(init, 0x99);
  pair.connect(pair.b, 2, 1, {});
  pair.b.verbs.req_notify_cq(cq, false);
  QpAttributes to_error{};
  to_error.mask = kQpState, to_error.state = QpState::Error;
  pair.post_receive(1, {}), pair.post_receive(2, {});
  REQUIRE(pair.b.verbs.modify_qp(*pair.b.qp, to_error) == testbench::Error::None);
  const auto eqe = decode<Eqe>(pair.b.bytes(ring, kEqeBytes).data());
  CHECK(eqe.cqn == 40);
  CHECK(eqe.phase);
  CHECK_FALSE(decode<Eqe>(pair.b.bytes(ring + kEqeBytes, kEqeBytes).data()).phase);
  // G20.2: both receives are flushed, in order.
  std::vector<Wc> flushed(4);
  flushed.resize(pair.b.verbs.poll_cq(cq, flushed));
  REQUIRE(flushed.size() == 2);
  CHECK(flushed[0].wr_id == 1);
  CHECK(flushed[1].status == WcStatus::WrFlushErr);
}
}  // namespace hca::functional

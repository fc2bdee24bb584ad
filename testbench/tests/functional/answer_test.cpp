// SPDX-License-Identifier: Apache-2.0
// What the requester makes of answers: credits, NAK codes and responses that do not fit.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::kSignaled;
using Frames = std::vector<std::pair<u32, u32>>;

namespace {
constexpr u32 kP = Pair::kFirstPsn;

// One READ of `bytes` has left; A gets `response` for it.
struct Asked {
  explicit Asked(u32 bytes) : pair(reading()) {
    pair.post(WorkOpcode::RdmaRead, 1, {pair.from_a(0, bytes)});
    pair.a.sent.clear();
  }
  void answer(u8 opcode, u32 psn, u32 bytes, u8 syndrome = 0x1f) {
    pair.a.hca.receive(pair.frame(opcode, psn, aeth(syndrome, 1), bytes));
  }
  Results done() { return results(pair.a.poll(pair.a.send_cq)); }
  Pair pair;
};
}  // namespace

// ---- Credits
TEST_CASE("credits limit SENDs, and one beyond the limit may go",
          "[functional][G6.2][G6.3][G6.4]") {
  Pair pair;
  const auto send = [&](u64 id) { pair.post(WorkOpcode::Send, id, {pair.from_a(0, 4)}); };
  send(1);
  // MSN 1 and code 2: LSN = 3, so SSN 2, 3 and, beyond the limit, 4 may go, 5 may not.
  pair.a.hca.receive(pair.frame(kAcknowledge, kP, aeth(0x02, 1)));
  pair.a.sent.clear();
  for (u64 id = 2; id <= 6; ++id) send(id);
  CHECK(pair.a.sent.size() == 3);
  // The ACK of SSN 4 with no credit: LSN = 4, so 5 goes as the one beyond.
  pair.a.hca.receive(pair.frame(kAcknowledge, psn_add(kP, 3), aeth(0x00, 4)));
  CHECK(pair.a.sent.size() == 4);
  // The same PSN again with more credits (C9-217): LSN = 4 + 4.
  pair.a.hca.receive(pair.frame(kAcknowledge, psn_add(kP, 3), aeth(0x04, 4)));
  CHECK(pair.a.sent.size() == 5);
}

TEST_CASE("READs, ATOMICs and WRITEs need no credits", "[functional][G6.3]") {
  Pair pair(reading());
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 4)});
  pair.a.hca.receive(pair.frame(kAcknowledge, kP, aeth(0x00, 1)));  // LSN 1
  pair.a.sent.clear();
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4)});
  pair.post(WorkOpcode::RdmaRead, 3, {pair.from_a(0, 4)});
  pair.post_atomic(4, 1, std::nullopt);
  CHECK(pair.a.sent.size() == 3);
  // They raise LSN to 4: SSN 5 is the one beyond, SSN 6 must wait.
  pair.post(WorkOpcode::Send, 5, {pair.from_a(0, 4)});
  CHECK(pair.a.sent.size() == 4);
  pair.post(WorkOpcode::RdmaWriteImmediate, 6, {pair.from_a(0, 4)});
  CHECK(pair.a.sent.size() == 4);
}

// SEND 1 takes the only receive WQE: MSN 1, code 0. The first of five posts is told, with code 1;
// of the others the peer hears with the next ACK.
TEST_CASE("receive WQEs posted after \"no credits\" are told by the newest ACK again",
          "[functional][G6.6][C9-217]") {
  Pair pair;
  pair.post_receive(1, {pair.into_b(0, 64)});
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 4)});
  pair.carry();
  REQUIRE(pair.log_b.size() == 1);
  CHECK(parsed(pair.log_b[0]).aeth.syndrome == 0x00);
  pair.post_receive(2, {pair.into_b(0, 64)});  // told at once: code 1
  for (u64 id = 3; id <= 6; ++id) pair.post_receive(id, {pair.into_b(0, 64)});
  pair.carry();
  REQUIRE(pair.log_b.size() == 2);
  const ParsedPacket again = parsed(pair.log_b[1]);
  CHECK(again.bth.opcode == kAcknowledge);
  CHECK(again.bth.psn == kP);
  CHECK(again.aeth.msn == 1);
  CHECK(again.aeth.syndrome == 0x01);
}

TEST_CASE("code 31 lifts the limit for good", "[functional][G6.5]") {
  Pair pair;
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 4)});
  pair.a.hca.receive(pair.frame(kAcknowledge, kP, aeth(0x1f, 1)));
  pair.post(WorkOpcode::Send, 2, {pair.from_a(0, 4)});
  pair.a.hca.receive(pair.frame(kAcknowledge, psn_add(kP, 1), aeth(0x00, 2)));
  pair.a.sent.clear();
  for (u64 id = 3; id <= 8; ++id) pair.post(WorkOpcode::Send, id, {pair.from_a(0, 4)});
  CHECK(pair.a.sent.size() == 6);
}

TEST_CASE("the responder tells its free receive WQEs", "[functional][G6.1][T5]") {
  Pair pair;
  // 6 left after the first of 7 is code 5 (6), 5 left is still code 4 (4).
  for (u64 id = 1; id <= 7; ++id) pair.post_receive(id, {pair.into_b(0, 64)});
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 4)}),
      pair.post(WorkOpcode::Send, 2, {pair.from_a(0, 4)});
  pair.carry();
  CHECK(parsed(pair.log_b.at(0)).aeth.syndrome == 0x05);
  CHECK(parsed(pair.log_b.at(1)).aeth.syndrome == 0x04);
}

// ---- Responses that do not fit
TEST_CASE("a response of a wrong kind fails the READ", "[functional][T9-21/RC][G12.6]") {
  Asked asked(600);
  const u8 opcode = GENERATE(u8{0x12}, kReadMiddle, kReadLast);  // ATOMIC Acknowledge; not begun
  asked.answer(opcode, kP, opcode == 0x12 ? 0 : 256);
  CHECK(asked.done() == Results{{1, WcStatus::BadRespErr}});
  CHECK(asked.pair.a.verbs.query_qp(*asked.pair.a.qp).state == QpState::Error);
}

TEST_CASE("a NAK code in a READ response fails the READ", "[functional][T9-21/RC]") {
  Asked asked(600);
  asked.answer(kReadFirst, kP, 256, 0x62);
  CHECK(asked.done() == Results{{1, WcStatus::BadRespErr}});
}

TEST_CASE("a READ begins once", "[functional][T9-21/RC]") {
  Asked asked(600);
  asked.answer(kReadFirst, kP, 256);
  asked.answer(kReadFirst, psn_add(kP, 1), 256);
  CHECK(asked.done() == Results{{1, WcStatus::BadRespErr}});
}

TEST_CASE("a response of a wrong length fails the READ", "[functional][T9-16/RC][G12.6]") {
  struct Row {
    std::vector<std::pair<u8, u32>> responses;  // opcode, bytes
  };
  // 600 bytes at 256 are 256, 256 and 88.
  const Row row = GENERATE(values<Row>({
      {{{kReadFirst, 255}}},
      {{{kReadOnly, 256}}},
      {{{kReadFirst, 256}, {kReadMiddle, 252}}},
      {{{kReadFirst, 256}, {kReadMiddle, 256}, {kReadLast, 87}}},
      {{{kReadFirst, 256}, {kReadMiddle, 256}, {kReadLast, 89}}},
  }));
  Asked asked(600);
  u32 psn = kP;
  for (const auto& [opcode, bytes] : row.responses) {
    CHECK(asked.done().empty());
    asked.answer(opcode, psn, bytes);
    psn = psn_add(psn, 1);
  }
  CHECK(asked.done() == Results{{1, WcStatus::LocLenErr}});
}

TEST_CASE("a Last where a Middle is due, and the other way round, fails the READ",
          "[functional][T7-r3][ERR-16]") {
  // 600 bytes at 256 are 256, 256 and 88.
  const bool early = GENERATE(true, false);
  Asked asked(600);
  asked.answer(kReadFirst, kP, 256);
  if (!early) asked.answer(kReadMiddle, psn_add(kP, 1), 256);
  CHECK(asked.done().empty());
  if (early)
    asked.answer(kReadLast, psn_add(kP, 1), 88);
  else
    asked.answer(kReadMiddle, psn_add(kP, 2), 256);
  CHECK(asked.done() == Results{{1, WcStatus::BadRespErr}});
}

TEST_CASE("a plain ACK at a PSN of a READ is dropped", "[functional][ERR-17]") {
  Asked asked(600);
  asked.answer(kAcknowledge, psn_add(kP, 2), 0);
  CHECK(asked.done().empty());
  CHECK(asked.pair.a.sent.empty());
}

TEST_CASE("a NAK inside a READ fails it", "[functional][C9-214][G7.1]") {
  Asked asked(600);
  asked.answer(kReadFirst, kP, 256);
  asked.answer(kAcknowledge, psn_add(kP, 1), 0, 0x62);
  CHECK(asked.done() == Results{{1, WcStatus::RemAccessErr}});
}

TEST_CASE("each NAK code has its status, a reserved one none", "[functional][T5][C9-214]") {
  struct Row {
    u8 syndrome;
    Results done;
  };
  const Row row = GENERATE(values<Row>({
      {0x61, {{1, WcStatus::RemInvReqErr}}},
      {0x62, {{1, WcStatus::RemAccessErr}}},
      {0x63, {{1, WcStatus::RemOpErr}}},
      {0x64, {{1, WcStatus::RemInvRdReqErr}}},
      {0x69, {}},
      {0x40, {}},
      {0x9f, {}},
  }));
  CAPTURE(row.syndrome);
  Pair pair;
  pair.post(WorkOpcode::Send, 1, {pair.from_a(0, 4)});
  pair.a.hca.receive(pair.frame(kAcknowledge, kP, aeth(row.syndrome, 0)));
  CHECK(results(pair.a.poll(pair.a.send_cq)) == row.done);
}

TEST_CASE("a response to nothing, or to a PSN not sent, is dropped", "[functional][G12.1]") {
  Pair pair(reading());
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 4)});
  pair.a.hca.receive(pair.frame(kAcknowledge, psn_add(kP, 1), aeth(0x1f, 1)));
  pair.a.hca.receive(pair.frame(kReadOnly, psn_sub(kP, 1), aeth(0x1f, 1), 4));
  CHECK(pair.a.hca.port_counters().unexpected_answers == 2);
  CHECK(pair.a.poll(pair.a.send_cq).empty());
  CHECK(pair.a.hca.next_timer());
}

// ---- SEND with Invalidate
TEST_CASE("a SEND with Invalidate takes the key's access away",
          "[functional][INV-1][INV-6][G21.4]") {
  Pair pair(reading());
  const testbench::Mr other = pair.b.verbs.reg_mr(Pair::kBuffer + 65536, 4096, 0xf | kFastRegister);
  pair.post_receive(70, {pair.into_b(0, 64)});
  testbench::SendWr wr;
  const testbench::SgeList sge = pair.from_a(0, 8);
  wr.wr_id = 1, wr.sg_list = {&sge, 1}, wr.opcode = WorkOpcode::SendInvalidate;
  wr.send_flags = kSignaled, wr.imm_data = other.rkey;
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == testbench::Error::None);
  pair.carry();
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{0x17, kP}});
  const auto received = pair.b.poll(pair.b.recv_cq);
  REQUIRE(results(received) == Results{{70, WcStatus::Success}});
  CHECK(received[0].with_invalidate);
  CHECK(received[0].imm_data == other.rkey);
  // The other key goes on to work, this one is gone.
  pair.b.hca.receive(
      pair.frame(0x0a, psn_add(kP, 1), reth(Pair::kBuffer, pair.mr_b.rkey, 4), 4, true));
  pair.b.hca.receive(
      pair.frame(0x0a, psn_add(kP, 2), reth(Pair::kBuffer + 65536, other.rkey, 4), 4, true));
  REQUIRE(pair.b.sent.size() == 2);
  CHECK(parsed(pair.b.sent[0]).aeth.syndrome == 0x00);
  CHECK(parsed(pair.b.sent[1]).aeth.syndrome == 0x62);
}

TEST_CASE("a SEND with Invalidate of an unknown key fails the receiver without a NAK",
          "[functional][o9-5.2.2][T10-6/RC][G10.2][G10.3]") {
  Pair pair(reading());
  pair.post_receive(70, {pair.into_b(0, 64)}), pair.post_receive(71, {pair.into_b(0, 64)});
  ExtHeaders ext;
  ext.ieth = {0x00777700};
  pair.b.hca.receive(pair.frame(0x17, kP, ext, 8, true));
  for (const auto& frame : pair.b.sent)
    CHECK(syndrome_kind(parsed(frame).aeth.syndrome) == SyndromeKind::Ack);
  CHECK(results(pair.b.poll(pair.b.recv_cq)) ==
        Results{{70, WcStatus::RemInvReqErr}, {71, WcStatus::WrFlushErr}});
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Error);
  CHECK(pair.b.bytes(Pair::kBuffer, 8) ==
        std::vector<u8>{1, 2, 3, 4, 5, 6, 7, 8});  // G10.1: placed
}
}  // namespace hca::functional

// SPDX-License-Identifier: Apache-2.0
// ATOMICs: values, duplicates and refusals. Memory holds words low byte first.
#include <catch2/catch.hpp>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using testbench::kSignaled;
using Frames = std::vector<std::pair<u32, u32>>;

namespace {

u64 word(Station& s, u64 at) { return load_le8(s.bytes(at, 8).data()); }
void set_word(Station& s, u64 at, u64 value) {
  std::array<u8, 8> bytes;
  store_le8(bytes.data(), value);
  s.memory.write(at, bytes);
}
}  // namespace

TEST_CASE("FetchAdd adds modulo 2^64 and returns what was there", "[functional][ATOM-7][ATOM-9]") {
  Pair pair(reading());
  set_word(pair.b, Pair::kBuffer, 0xffff'ffff'ffff'fffe);
  pair.post_atomic(1, 5, std::nullopt, 16);
  pair.carry();
  CHECK(word(pair.b, Pair::kBuffer) == 3);  // 2^64 - 2 + 5
  CHECK(word(pair.a, Pair::kBuffer + 16) == 0xffff'ffff'ffff'fffe);
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kFetchAdd, 0xfffffe}});
  CHECK(opcodes_and_psns(pair.log_b) == Frames{{kAtomicAcknowledge, 0xfffffe}});
  CHECK(parsed(pair.log_a[0]).atomic_eth.swap_add == 5);
  CHECK(parsed(pair.log_a[0]).atomic_eth.compare == 0);
  CHECK(parsed(pair.log_b[0]).atomic_ack_eth.original == 0xffff'ffff'ffff'fffe);
  CHECK(parsed(pair.log_b[0]).aeth.msn == 1);
  const auto done = pair.a.poll(pair.a.send_cq);
  REQUIRE(results(done) == Results{{1, WcStatus::Success}});
  CHECK(done[0].opcode == CqeOpcode::FetchAdd);
  CHECK(done[0].byte_len == 8);
}

TEST_CASE("CmpSwap writes only where it compares equal and returns what was there",
          "[functional][ATOM-8]") {
  Pair pair(reading());
  set_word(pair.b, Pair::kBuffer + 8, 0x0123456789abcdef);
  pair.post_atomic(1, 0x0123456789abcdee, 7, 16, Pair::kBuffer + 8);  // another value is there
  pair.carry();
  CHECK(word(pair.b, Pair::kBuffer + 8) == 0x0123456789abcdef);
  CHECK(word(pair.a, Pair::kBuffer + 16) == 0x0123456789abcdef);
  pair.post_atomic(2, 0x0123456789abcdef, 7, 24, Pair::kBuffer + 8);
  pair.carry();
  CHECK(word(pair.b, Pair::kBuffer + 8) == 7);
  CHECK(word(pair.a, Pair::kBuffer + 24) == 0x0123456789abcdef);
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kCompareSwap, 0xfffffe}, {kCompareSwap, 0xffffff}});
}

TEST_CASE("a repeated ATOMIC returns the saved result and is not executed again",
          "[functional][G3.4][G3.5]") {
  Pair pair(reading());
  set_word(pair.b, Pair::kBuffer, 100);
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post_atomic(1, 5, std::nullopt);
  pair.carry();
  pair.a.hca.advance_to(*pair.a.hca.next_timer());
  pair.carry();
  CHECK(pair.log_a.size() == 2);
  CHECK(pair.log_a[0].size() == pair.log_a[1].size());
  CHECK(word(pair.b, Pair::kBuffer) == 105);
  CHECK(word(pair.a, Pair::kBuffer) == 100);
  CHECK(parsed(pair.log_b.at(1)).aeth.msn == 1);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a repeated ATOMIC that newer ones pushed out is dropped",
          "[functional][T10-7/RC][G29.1]") {
  Pair pair(reading(2));
  set_word(pair.b, Pair::kBuffer, 100);
  for (u64 id = 1; id <= 3; ++id) pair.post_atomic(id, 1, std::nullopt, u32(8 * id));
  pair.carry();
  CHECK(word(pair.b, Pair::kBuffer) == 103);
  // Two results are held: those of ffffff and 0, 101 and 102.
  CHECK(answers(pair, pair.frame(kFetchAdd, 0xfffffe, atomic_eth(Pair::kBuffer, pair.mr_b.rkey, 1)))
            .empty());
  const auto held =
      answers(pair, pair.frame(kFetchAdd, 0xffffff, atomic_eth(Pair::kBuffer, pair.mr_b.rkey, 1)));
  REQUIRE(opcodes_and_psns(held) == Frames{{kAtomicAcknowledge, 0xffffff}});
  CHECK(parsed(held[0]).atomic_ack_eth.original == 101);
  CHECK(parsed(held[0]).aeth.msn == 3);
  CHECK(word(pair.b, Pair::kBuffer) == 103);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Rts);
}

TEST_CASE("an ATOMIC whose acknowledge is missing is repeated when a later one comes",
          "[functional][G12.4]") {
  Pair pair(reading());
  set_word(pair.b, Pair::kBuffer, 10);
  pair.lost_from_b = [](u32 n) { return n == 0; };
  pair.post_atomic(1, 1, std::nullopt, 0), pair.post_atomic(2, 2, std::nullopt, 8);
  pair.carry();
  CHECK(opcodes_and_psns(pair.log_a) == Frames{{kFetchAdd, 0xfffffe},
                                               {kFetchAdd, 0xffffff},
                                               {kFetchAdd, 0xfffffe},
                                               {kFetchAdd, 0xffffff}});
  CHECK(word(pair.b, Pair::kBuffer) == 13);
  CHECK(word(pair.a, Pair::kBuffer) == 10);
  CHECK(word(pair.a, Pair::kBuffer + 8) == 11);
}

TEST_CASE("ATOMICs that may not be are refused, alignment before the key",
          "[functional][T10-2/RC][T10-3/RC][T10-4/RC][T10-5/RC]") {
  struct Row {
    const char* why;
    u8 access, depth, key_access;
    u64 va;
    u32 key_flip;
    u8 syndrome;
  };
  const Row row = GENERATE(values<Row>({
      {"the QP forbids ATOMICs", kRemoteWrite | kRemoteRead, 4, kRemoteAtomic, Pair::kBuffer, 0,
       0x61},
      {"none may be outstanding", kRemoteAtomic, 0, kRemoteAtomic, Pair::kBuffer, 0, 0x61},
      {"misaligned", kRemoteAtomic, 4, kRemoteAtomic, Pair::kBuffer + 4, 0, 0x61},
      {"misaligned and a wrong key", kRemoteAtomic, 4, kRemoteAtomic, Pair::kBuffer + 4, 1, 0x61},
      {"a wrong key", kRemoteAtomic, 4, kRemoteAtomic, Pair::kBuffer, 1, 0x62},
      {"the key forbids ATOMICs", kRemoteAtomic, 4, kRemoteRead, Pair::kBuffer, 0, 0x62},
      {"beyond the region", kRemoteAtomic, 4, kRemoteAtomic, Pair::kBuffer + 4096, 0, 0x62},
  }));
  CAPTURE(row.why);
  PairOptions options = reading();
  options.access = row.access, options.max_dest_rd_atomic = row.depth;
  Pair pair(options);
  const testbench::Mr mr =
      pair.b.verbs.reg_mr(Pair::kBuffer, 4096, u8(kLocalWrite | row.key_access));
  set_word(pair.b, Pair::kBuffer, 9);
  const auto nak = answers(
      pair,
      pair.frame(kFetchAdd, 0xfffffe, atomic_eth(row.va, mr.rkey ^ row.key_flip, 1), 0, true));
  REQUIRE(opcodes_and_psns(nak) == Frames{{0x11, 0xfffffe}});
  CHECK(parsed(nak[0]).aeth.syndrome == row.syndrome);
  CHECK(parsed(nak[0]).aeth.msn == 0);
  CHECK(pair.b.verbs.query_qp(*pair.b.qp).state == QpState::Error);
  CHECK(word(pair.b, Pair::kBuffer) == 9);
}

TEST_CASE("an ATOMIC without 8 bytes of room is a local length error", "[functional][T9-16/RC]") {
  Pair pair(reading());
  testbench::SendWr wr;
  const testbench::SgeList sge = pair.from_a(0, 7);
  wr.sg_list = {&sge, 1}, wr.opcode = WorkOpcode::FetchAdd, wr.wr_id = 3;
  wr.remote_addr = Pair::kBuffer, wr.rkey = pair.mr_b.rkey;
  REQUIRE(pair.a.verbs.post_send(*pair.a.qp, wr) == testbench::Error::None);
  CHECK(pair.a.sent.empty());
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{3, WcStatus::LocLenErr}});
}
}  // namespace hca::functional

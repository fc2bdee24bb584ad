// SPDX-License-Identifier: Apache-2.0
// Selective repeat, an extension of this model: docs/design/selective_repeat.md.
#include <catch2/catch.hpp>
#include <random>

#include "testbench/tests/functional/functional_pair.h"

namespace hca::functional {
using namespace proto;
using Frames = std::vector<std::pair<u32, u32>>;

namespace {
PairOptions selective(u16 window = kMostReordered) {
  PairOptions options = reading();
  options.transport.recovery = Recovery::SelectiveRepeat;
  options.transport.reorder_window = window;
  return options;
}
u32 syndrome_of(const std::vector<u8>& frame) { return parsed(frame).aeth.syndrome; }
// As often as timers fire.
void carry_to_the_end(Pair& pair) {
  pair.carry();
  while (pair.a.hca.next_timer()) {
    pair.a.hca.advance_to(*pair.a.hca.next_timer());
    pair.carry();
  }
}
}  // namespace

TEST_CASE("selective repeat sends again what is missing, and nothing else",
          "[functional][selective_repeat]") {
  Pair pair(selective());
  pair.lost_from_a = [](u32 n) { return n == 1; };
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 4 * 256)});
  pair.carry();
  // First, Middle (lost), Middle, Last; then the lost one.
  CHECK(opcodes_and_psns(pair.log_a) ==
        Frames{{0x06, 0xfffffe}, {0x07, 0xffffff}, {0x07, 0}, {0x08, 1}, {0x07, 0xffffff}});
  REQUIRE(pair.log_b.size() == 5);
  // Each packet that is kept draws a NAK: its PSN is the one expected, its MSN the one kept.
  for (u32 i = 0; i < 2; ++i) {
    const ParsedPacket nak = parsed(pair.log_b[i]);
    CHECK(nak.aeth.syndrome == 0x7f);
    CHECK(nak.bth.psn == 0xffffff);
    CHECK(nak.aeth.msn == i);
  }
  // The repeated packet asks for its ACK, PSN 0 does so four times a window, and the last one.
  const Frames acks(opcodes_and_psns({pair.log_b.begin() + 2, pair.log_b.end()}));
  CHECK(acks == Frames{{kAcknowledge, 0xffffff}, {kAcknowledge, 0}, {kAcknowledge, 1}});
  CHECK(pair.b.bytes(Pair::kBuffer, 1024) == pair.a.bytes(Pair::kBuffer, 1024));
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a requester has no more than the window under way, and asks for ACKs within it",
          "[functional][selective_repeat]") {
  Pair pair(selective(4));
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 10 * 256)});
  CHECK(pair.a.sent.size() == 4);
  pair.carry();
  CHECK(pair.log_a.size() == 10);
  CHECK(results(pair.a.poll(pair.a.send_cq)) == Results{{1, WcStatus::Success}});
}

TEST_CASE("a responder keeps what is less than the window ahead",
          "[functional][selective_repeat]") {
  Pair pair(selective(4));
  const auto write = [&](u32 ahead) {
    pair.b.hca.receive(pair.frame(0x0a, psn_add(Pair::kFirstPsn, ahead),
                                  reth(Pair::kBuffer + ahead * 16, pair.mr_b.rkey, 4), 4),
                       1);
    const u32 syndrome = pair.b.sent.empty() ? 0 : syndrome_of(pair.b.sent.back());
    pair.b.sent.clear();
    return syndrome;
  };
  CHECK(write(3) == 0x7f);
  CHECK(write(4) == 0);  // behind a NAK: nothing, and it is not kept
  CHECK(write(2) == 0x7f);
  CHECK(pair.b.bytes(Pair::kBuffer, 80) == std::vector<u8>(80));
  write(0), write(1);
  const auto all = pair.b.bytes(Pair::kBuffer, 80);
  for (u32 i = 0; i < 5; ++i) CHECK(all[i * 16] == (i < 4));
}

TEST_CASE("what is kept of a queue pair is gone when it is reset",
          "[functional][selective_repeat]") {
  Pair pair(selective());
  const auto write = [&](u32 ahead) {
    pair.b.hca.receive(pair.frame(0x0a, psn_add(Pair::kFirstPsn, ahead),
                                  reth(Pair::kBuffer + ahead * 16, pair.mr_b.rkey, 4), 4),
                       1);
  };
  write(1);
  QpAttributes q{};
  q.state = QpState::Reset, q.mask = kQpState;
  pair.b.verbs.modify_qp(*pair.b.qp, q);
  pair.connect(pair.b, 2, 1, selective());
  write(0);
  CHECK(pair.b.bytes(Pair::kBuffer, 1)[0] == 1);
  CHECK(pair.b.bytes(Pair::kBuffer + 16, 1)[0] == 0);
  write(2), write(1);
  CHECK(pair.b.bytes(Pair::kBuffer + 16, 1)[0] == 1);
  CHECK(pair.b.bytes(Pair::kBuffer + 32, 1)[0] == 1);
}

TEST_CASE("a SEND that was kept may draw an RNR NAK, and goes again alone",
          "[functional][selective_repeat]") {
  Pair pair(selective());
  pair.lost_from_a = [](u32 n) { return n == 0; };
  pair.post_receive(10, {pair.into_b(0, 64)});
  for (u32 i = 1; i <= 3; ++i) pair.post(WorkOpcode::Send, i, {pair.from_a(16 * i, 16)});
  pair.carry();
  pair.post_receive(11, {pair.into_b(64, 64)}), pair.post_receive(12, {pair.into_b(128, 64)});
  carry_to_the_end(pair);
  CHECK(pair.log_a.size() == 3 + 1 + 1);
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::Success}, {3, WcStatus::Success}});
  CHECK(pair.b.bytes(Pair::kBuffer + 128, 16) == pair.a.bytes(Pair::kBuffer + 48, 16));
}

namespace {
void change_path(Station& s, QpAttributes a, PathMigState to) {
  a.state = QpState::Rts, a.path_mig_state = to;
  a.mask |= kQpState | kQpPathMigState;
  REQUIRE(s.verbs.modify_qp(*s.qp, a) == testbench::Error::None);
}
// The alternate path has the addresses of the primary one.
void rearm(Station& s, u8 peer) {
  PathAttributes path{};
  path.dmac = Pair::mac(peer, 1), path.dgid_low = Pair::gid_low(peer, 1);
  path.hop_limit = 64, path.udp_source_port = 0xC000;
  QpAttributes a{};
  set_alternate(a, path);
  a.alt_port = 1, a.alt_timeout = 14, a.mask = kQpAltPath;
  change_path(s, a, PathMigState::Rearm);
}
}  // namespace

TEST_CASE("after a migration all is sent again that the responder kept",
          "[functional][selective_repeat][G17.2]") {
  PairOptions options = selective();
  options.transport.apm = true;
  Pair pair(options);
  rearm(pair.a, 2), rearm(pair.b, 1);
  pair.post(WorkOpcode::RdmaWrite, 1, {pair.from_a(0, 16)});  // arms both
  pair.carry();
  const u32 before = u32(pair.log_a.size());
  pair.lost_from_a = [&](u32 n) { return n == before || n == before + 4; };
  pair.post(WorkOpcode::RdmaWrite, 2, {pair.from_a(0, 4 * 256)});
  pair.carry();
  REQUIRE(pair.log_a.size() == before + 5);
  change_path(pair.a, {}, PathMigState::Migrated);
  carry_to_the_end(pair);
  CHECK(pair.log_a.size() == before + 5 + 4);
  CHECK(pair.b.bytes(Pair::kBuffer, 1024) == pair.a.bytes(Pair::kBuffer, 1024));
  CHECK(results(pair.a.poll(pair.a.send_cq)) ==
        Results{{1, WcStatus::Success}, {2, WcStatus::Success}});
}

// Random losses in both directions: all arrives, in its order, and fewer packets go twice than with
// go-back-N.
TEST_CASE("selective repeat delivers everything under loss", "[functional][selective_repeat]") {
  u32 sent[2]{};
  for (u32 seed = 1; seed <= 40; ++seed) {
    for (const Recovery recovery : {Recovery::GoBackN, Recovery::SelectiveRepeat}) {
      CAPTURE(seed, unsigned(recovery));
      PairOptions options = selective(u16(seed % 4 ? 4u << seed % 8 : kMostReordered));
      options.transport.recovery = recovery;
      Pair pair(options);
      std::mt19937 random(seed);
      const auto lost = [&](u32) { return random() % 100 < 4; };
      pair.lost_from_a = pair.lost_from_b = lost;
      for (u32 i = 0; i < 24; ++i)
        pair.post_receive(100 + i, {pair.into_b(0x40000 + i * 1024, 1024)});
      u64 adds = 0;
      for (u32 i = 0; i < 48; ++i) {
        const u32 from = 16 * i, bytes = 1 + u32(random() % 1024);
        switch (i % 4) {
          case 0:
            pair.post(WorkOpcode::RdmaWrite, i, {pair.from_a(from, bytes)}, testbench::kSignaled,
                      Pair::kBuffer + 0x10000 + i * 1024);
            break;
          case 1:
            pair.post(WorkOpcode::RdmaRead, i, {pair.from_a(0x20000 + i * 1024, bytes)},
                      testbench::kSignaled, Pair::kBuffer);
            break;
          case 2:
            pair.post_atomic(i, 1, {}, 0x3000 + 8 * i, Pair::kBuffer + 0x8000), ++adds;
            break;
          default:
            pair.post(WorkOpcode::Send, i, {pair.from_a(from, bytes)});
        }
      }
      carry_to_the_end(pair);
      const auto ends = results(pair.a.poll(pair.a.send_cq));
      REQUIRE(ends.size() == 48);
      for (u32 i = 0; i < 48; ++i) CHECK(ends[i] == std::pair<u64, WcStatus>{i, WcStatus::Success});
      const auto taken = pair.b.poll(pair.b.recv_cq);
      REQUIRE(taken.size() == 12);
      for (u32 i = 0; i < 12; ++i) {
        const u32 from = 16 * (4 * i + 3);
        CHECK(taken[i].wr_id == 100 + i);
        CHECK(pair.b.bytes(Pair::kBuffer + 0x40000 + i * 1024, taken[i].byte_len) ==
              pair.a.bytes(Pair::kBuffer + from, taken[i].byte_len));
      }
      CHECK(pair.b.bytes(Pair::kBuffer + 0x8000, 1)[0] == adds);  // each ATOMIC once
      sent[unsigned(recovery)] += u32(pair.log_a.size());
    }
  }
  CHECK(sent[1] < sent[0]);
}
}  // namespace hca::functional

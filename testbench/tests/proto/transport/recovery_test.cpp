// SPDX-License-Identifier: Apache-2.0
#include "model/proto/transport/recovery.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace hca;
using namespace hca::proto;

namespace {
constexpr Psn kFirst = 0xfffffe;  // PSNs wrap

// The PSNs of a connection and what its policy knows.
struct Sender {
  Sender() { s.start(kFirst); }
  // `count` new packets, one message.
  void send(u32 count) {
    s.take(count);
    for (u32 i = 0; i < count; ++i) cut();
  }
  Psn cut() {
    const PsnRange packet{s.send_psn, 1};
    const bool is_new = s.send(packet);
    SelectiveRepeat::on_sent(s, r, packet, is_new);
    return packet.first;
  }
  bool keep(u32 at) { return SelectiveRepeat::on_selective_nak(s, r, {psn(at), 1}); }
  void acknowledge(u32 up_to) {
    const Psn before = s.unacked_psn;
    s.acknowledge(psn(up_to));
    SelectiveRepeat::on_acknowledged(s, r, before);
  }
  // What goes again, as offsets from the first PSN.
  std::vector<u32> repeated() {
    std::vector<u32> all;
    while (s.repeats()) all.push_back(psns_between(kFirst, cut()));
    return all;
  }
  static Psn psn(u32 at) { return psn_add(kFirst, at); }
  SendPsns s;
  LossRecord r;
};
using Psns = std::vector<u32>;
}  // namespace

TEST_CASE("what is missing before a kept packet goes again, once", "[proto][selective_repeat]") {
  Sender a;
  a.send(10);
  a.acknowledge(2);
  CHECK(a.keep(4));  // 2 and 3 are missing
  CHECK_FALSE(a.keep(5));
  CHECK_FALSE(a.keep(7));  // and 6
  CHECK(a.repeated() == Psns{2, 3, 6});
  CHECK_FALSE(a.keep(8));
  CHECK_FALSE(a.keep(9));
  CHECK(a.repeated() == Psns{});
  a.acknowledge(6);
  CHECK(a.repeated() == Psns{});
}

TEST_CASE("a repetition that is lost goes again when a later packet is kept",
          "[proto][selective_repeat]") {
  Sender a;
  a.send(4);
  CHECK(a.keep(2));
  CHECK(a.repeated() == Psns{0, 1});
  CHECK_FALSE(a.keep(3));  // it left before them
  a.send(2);
  a.acknowledge(1);  // the repetition of 1 is lost
  CHECK(a.keep(4));
  CHECK(a.repeated() == Psns{1});
  CHECK_FALSE(a.keep(5));  // it left before that
}

TEST_CASE("the timer sends again what is not known to be kept", "[proto][selective_repeat]") {
  Sender a;
  a.send(6);
  CHECK(a.keep(1));
  CHECK_FALSE(a.keep(3));
  CHECK(a.repeated() == Psns{0, 2});
  SelectiveRepeat::on_nak(a.s, a.r, {kFirst, 1});
  CHECK(a.repeated() == Psns{0, 2, 4, 5});
}

TEST_CASE("a packet that drew an RNR NAK goes again, and what is known to be lost",
          "[proto][selective_repeat]") {
  Sender a;
  a.send(6);
  a.acknowledge(1);
  CHECK(a.keep(2));
  CHECK(a.repeated() == Psns{1});
  CHECK(a.keep(4));
  CHECK(a.repeated() == Psns{3});
  SelectiveRepeat::on_refused(a.s, a.r, {Sender::psn(1), 1});
  CHECK(a.repeated() == Psns{1, 3});
}

TEST_CASE("a READ goes again as a whole, or is kept as a whole", "[proto][selective_repeat]") {
  Sender a;
  a.send(1);
  a.s.take(5);  // PSNs 1 to 5
  SelectiveRepeat::on_sent(a.s, a.r, {Sender::psn(1), 5}, a.s.send({Sender::psn(1), 5}));
  a.send(2);
  CHECK(SelectiveRepeat::on_selective_nak(a.s, a.r, {Sender::psn(1), 5}));
  CHECK_FALSE(a.keep(7));
  CHECK(a.repeated() == Psns{0, 6});
}

TEST_CASE("the window counts from the oldest unacknowledged packet", "[proto][selective_repeat]") {
  QpConfig qp;
  qp.options.recovery = Recovery::SelectiveRepeat;
  qp.options.reorder_window = 4;
  Sender a;
  CHECK(SelectiveRepeat::may_send(a.s, qp, Sender::psn(3)));
  CHECK_FALSE(SelectiveRepeat::may_send(a.s, qp, Sender::psn(4)));
  CHECK(SelectiveRepeat::keeps(qp, kFirst, Sender::psn(3)));
  CHECK_FALSE(SelectiveRepeat::keeps(qp, kFirst, Sender::psn(4)));
  CHECK_FALSE(GoBackN::keeps(qp, kFirst, Sender::psn(1)));
  CHECK(recovery_of(qp) == Recovery::SelectiveRepeat);
  qp.reliable = false;
  CHECK(recovery_of(qp) == Recovery::GoBackN);
}

TEST_CASE("a record holds for all PSNs, round and round", "[proto][selective_repeat]") {
  Sender a;
  u32 done = 0;
  for (u32 round = 0; round < 66'000; ++round) {  // more than 2^24 PSNs
    a.send(kMostReordered / 2);
    a.acknowledge(done + 1);
    a.keep(done + 3);
    REQUIRE(a.repeated() == Psns{(done + 1) & kPsnMask, (done + 2) & kPsnMask});
    done += kMostReordered / 2;
    a.acknowledge(done);
  }
}

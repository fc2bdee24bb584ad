// SPDX-License-Identifier: Apache-2.0
// rtl/requester_psn/requester_psn.sv against PSNs written down from the specification.
#include "rtl/cpp/requester_psn_rtl.h"

#include <catch2/catch.hpp>
#include <optional>
#include <vector>

#include "model/blocks/twins/requester_psn_unit.h"

namespace hca::testbench {
namespace {
using blocks::PsnKind;
using blocks::PsnResult;
using blocks::PsnStep;

// One queue pair with a path MTU of 256; its context is answered one cycle after the look-up.
struct PsnBench {
  rtl::RequesterPsnRtl rtl{GENERATE(32u, 64u)};
  rtl::PsnContext context{};
  std::vector<rtl::PsnStepped> out{};
  std::vector<unsigned> at{};

  PsnBench() { context.path_mtu = 256; }
  static rtl::PsnStepBeat step(PsnStep step, u32 psn = 0) {
    rtl::PsnStepBeat s{};
    s.first = s.last = true;
    s.op = u8(step), s.qpn = 0x21, s.psn = psn;
    return s;
  }
  static rtl::PsnStepBeat message(PsnKind kind, u32 bytes) {
    rtl::PsnStepBeat s = step(PsnStep::Message);
    s.kind = u8(kind), s.byte_len = bytes;
    return s;
  }
  static rtl::PsnStepBeat packet(PsnKind kind, u32 first, u32 index, u32 bytes) {
    rtl::PsnStepBeat s = step(PsnStep::Packet, first);
    s.kind = u8(kind), s.index = index, s.byte_len = bytes;
    return s;
  }
  // One a cycle.
  void run(const std::vector<rtl::PsnStepBeat>& steps) {
    out.clear(), at.clear();
    bool ask = false;
    for (unsigned cycle = 0; cycle < 20 + steps.size(); ++cycle) {
      rtl.begin_cycle(true);
      rtl.look_ups()->answer(ask ? &context : nullptr);
      std::optional<rtl::BeatOf<rtl::PsnStepBeat>> beat;
      if (cycle < steps.size()) beat.emplace().control = steps[cycle];
      rtl.drive(beat ? &*beat : nullptr);
      ask = rtl.look_ups()->context_asked().has_value();
      if (rtl.out_valid()) {
        out.push_back(rtl.out().control), at.push_back(cycle);
        context.state = out.back().state;
      }
      rtl.end_cycle();
    }
    CHECK_FALSE(rtl.assertion_failed());
    REQUIRE(out.size() == steps.size());
  }
  void check(std::size_t i, PsnResult result, u32 psn, u32 count) const {
    INFO("step " << i);
    CHECK(PsnResult(out.at(i).result) == result);
    CHECK(out.at(i).psn == psn);
    CHECK(out.at(i).count == count);
  }
};
using enum PsnResult;
}  // namespace

TEST_CASE("a result comes 6 cycles behind its step, one a cycle", "[requester_psn][rtl]") {
  PsnBench bench;
  bench.run(std::vector<rtl::PsnStepBeat>(12, PsnBench::message(PsnKind::Data, 1)));
  for (unsigned i = 0; i < 12; ++i) {
    CHECK(bench.at[i] == i + 6);
    bench.check(i, Done, i, 1);
  }
}

TEST_CASE("a message takes a PSN for each packet of it or of its response",
          "[requester_psn][rtl][G1.1][G1.2]") {
  PsnBench bench;
  bench.run({PsnBench::step(PsnStep::Start, 0xfffffe), PsnBench::message(PsnKind::Data, 0),
             PsnBench::message(PsnKind::Data, 256), PsnBench::message(PsnKind::Data, 257),
             PsnBench::message(PsnKind::Read, 700), PsnBench::message(PsnKind::Atomic, 5000)});
  bench.check(0, Done, 0xfffffe, 0);
  bench.check(1, Done, 0xfffffe, 1);
  bench.check(2, Done, 0xffffff, 1);
  bench.check(3, Done, 0, 2);
  bench.check(4, Done, 2, 3);  // READ-18
  bench.check(5, Done, 5, 1);
  CHECK(bench.context.state.next_psn == 6);
  // Nothing of them is sent.
  CHECK(bench.context.state.sent_psn == 0xfffffe);
  CHECK_FALSE(bench.out[5].unacked);
  for (const u32 mtu : {512u, 1024u, 2048u, 4096u}) {
    bench.context = {};
    bench.context.path_mtu = u16(mtu);
    bench.run({PsnBench::message(PsnKind::Data, 8192), PsnBench::message(PsnKind::Data, 8193)});
    bench.check(0, Done, 0, 8192 / mtu);
    bench.check(1, Done, 8192 / mtu, 8192 / mtu + 1);
  }
}

TEST_CASE("2^23 PSNs may be outstanding, no more", "[requester_psn][rtl][G1.4]") {
  PsnBench bench;
  constexpr u32 kLongest = u32{1} << 31;  // bytes; 2^23 packets of 256
  bench.run({PsnBench::step(PsnStep::Start, 0xc00000), PsnBench::message(PsnKind::Read, kLongest),
             PsnBench::message(PsnKind::Atomic, 8),
             PsnBench::packet(PsnKind::Read, 0xc00000, 0, kLongest),
             PsnBench::step(PsnStep::Acknowledge, 0xc00000), PsnBench::message(PsnKind::Data, 257),
             PsnBench::message(PsnKind::Data, 256)});
  bench.check(1, Done, 0xc00000, 0x800000);
  bench.check(2, Full, 0x400000, 1);
  bench.check(3, Done, 0xc00000, 0x800000);
  bench.check(4, Done, 0xc00001, 0);
  bench.check(5, Full, 0x400000, 2);
  bench.check(6, Done, 0x400000, 1);
  // Back to the oldest one; then all is acknowledged after all, and nothing is repeated.
  bench.run({PsnBench::step(PsnStep::Timeout), PsnBench::step(PsnStep::Acknowledge, 0x3fffff)});
  CHECK(bench.out[0].state.send_psn == 0xc00001);
  CHECK(bench.out[1].state.send_psn == 0x400000);
  CHECK_FALSE(bench.out[1].unacked);
}

TEST_CASE("an answer counts for PSNs that are sent and not acknowledged",
          "[requester_psn][rtl][G12.1][G12.2][C9-217]") {
  PsnBench bench;
  bench.context.state.start(0xfffffe);
  // Three packets of four are sent: PSN 0xfffffe to 0.
  bench.run(
      {PsnBench::message(PsnKind::Data, 1024), PsnBench::packet(PsnKind::Data, 0xfffffe, 0, 1024),
       PsnBench::packet(PsnKind::Data, 0xfffffe, 1, 1024),
       PsnBench::packet(PsnKind::Data, 0xfffffe, 2, 1024), PsnBench::step(PsnStep::Acknowledge, 1),
       PsnBench::step(PsnStep::Acknowledge, 0xfffffd),
       PsnBench::step(PsnStep::Acknowledge, 0xfffffc), PsnBench::step(PsnStep::GoBack, 0xfffffd),
       PsnBench::step(PsnStep::Acknowledge, 0xffffff), PsnBench::step(PsnStep::Acknowledge, 0)});
  bench.check(3, Done, 0, 1);
  bench.check(4, Ghost, 0xfffffe, 0);
  bench.check(5, Newest, 0xfffffe, 0);
  bench.check(6, Ghost, 0xfffffe, 0);
  bench.check(7, Ghost, 0xfffffe, 0);
  bench.check(8, Done, 0, 0);
  CHECK(bench.out[8].progress);
  CHECK(bench.out[8].unacked);
  bench.check(9, Done, 1, 0);
  CHECK_FALSE(bench.out[9].unacked);
}

TEST_CASE("a NAK and the timer go back, and what is acknowledged meanwhile is not repeated",
          "[requester_psn][rtl][G11.3][G11.4][G11.5]") {
  PsnBench bench;
  bench.context.state.start(0x10);
  // A SEND of 2 packets and a READ of 4: PSN 0x10 to 0x15.
  bench.run(
      {PsnBench::message(PsnKind::Data, 512), PsnBench::message(PsnKind::Read, 1024),
       PsnBench::packet(PsnKind::Data, 0x10, 0, 512), PsnBench::packet(PsnKind::Data, 0x10, 1, 512),
       PsnBench::packet(PsnKind::Read, 0x12, 0, 1024), PsnBench::step(PsnStep::GoBack, 0x11),
       PsnBench::packet(PsnKind::Data, 0x10, 1, 512), PsnBench::step(PsnStep::Acknowledge, 0x13),
       PsnBench::packet(PsnKind::Read, 0x12, 2, 1024), PsnBench::step(PsnStep::Timeout)});
  bench.check(4, Done, 0x12, 4);
  CHECK_FALSE(bench.out[4].repeated);
  bench.check(5, Done, 0x11, 0);
  CHECK(bench.out[5].progress);
  CHECK(bench.out[5].state.send_psn == 0x11);
  bench.check(6, Done, 0x11, 1);
  CHECK(bench.out[6].repeated);
  CHECK(bench.out[6].state.send_psn == 0x12);
  CHECK(bench.out[7].state.send_psn == 0x14);  // not 0x12
  bench.check(8, Done, 0x14, 2);
  CHECK(bench.out[8].repeated);
  CHECK(bench.out[8].state.send_psn == 0x16);
  bench.check(9, Done, 0x14, 0);
  CHECK_FALSE(bench.out[9].progress);
  CHECK(bench.out[9].state.send_psn == 0x14);
  CHECK(bench.out[9].state.sent_psn == 0x16);
}

TEST_CASE("a RESYNC takes the place of all that is outstanding, above all its PSNs",
          "[requester_psn][rtl][G13.3][RSY-1]") {
  PsnBench bench;
  bench.context.state.start(0xfffffe);
  // A SEND of 4 packets, PSN 0xfffffe to 1; two of them are sent, one again.
  bench.run(
      {PsnBench::message(PsnKind::Data, 1024), PsnBench::packet(PsnKind::Data, 0xfffffe, 0, 1024),
       PsnBench::packet(PsnKind::Data, 0xfffffe, 1, 1024), PsnBench::step(PsnStep::Timeout),
       PsnBench::step(PsnStep::Resync), PsnBench::packet(PsnKind::Data, 2, 0, 0),
       PsnBench::step(PsnStep::Acknowledge, 0xffffff), PsnBench::step(PsnStep::Acknowledge, 2)});
  bench.check(4, Done, 2, 1);
  CHECK(bench.out[4].progress);
  CHECK_FALSE(bench.out[4].unacked);
  CHECK(bench.out[4].state.next_psn == 3);
  CHECK(bench.out[4].state.send_psn == 2);
  bench.check(5, Done, 2, 1);
  CHECK_FALSE(bench.out[5].repeated);
  bench.check(6, Ghost, 2, 0);  // of the aborted message
  bench.check(7, Done, 3, 0);
  CHECK_FALSE(bench.out[7].unacked);
}

TEST_CASE("an EE context and the queue pair of the same number have their own PSNs",
          "[requester_psn][rtl][G13.1]") {
  PsnBench bench;
  rtl::PsnStepBeat of_ee = PsnBench::message(PsnKind::Data, 512);
  of_ee.ee = true;
  bench.run({PsnBench::message(PsnKind::Data, 1), of_ee, PsnBench::message(PsnKind::Data, 1)});
  // The context that answers is the same, and only the queue pair's step is forwarded.
  bench.check(0, Done, 0, 1);
  bench.check(1, Done, 0, 2);
  CHECK(bench.out[1].ee);
  bench.check(2, Done, 1, 1);
}
}  // namespace hca::testbench

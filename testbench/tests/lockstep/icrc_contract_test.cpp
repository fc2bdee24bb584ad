// SPDX-License-Identifier: Apache-2.0
// The link contract on the pins of rtl/icrc/icrc.sv: cycles counted by hand, and each assertion
// made to fire.
#include "testbench/tests/lockstep/rtl_frame.h"

namespace hca::testbench {
namespace {
constexpr Framing kFraming = Framing::RoceV2Ip4;

struct Watched {
  bool ready, start, valid;
  rtl::Beat out;
};
// Runs one cycle with a grant after the block.
Watched step(rtl::IcrcRtl& rtl, const rtl::Beat* beat, bool grant = true) {
  rtl.begin_cycle(grant);
  Watched w{rtl.in_ready(), false, rtl.out_valid(), {}};
  if (w.valid) w.out = rtl.out();
  rtl.drive(beat);
  w.start = rtl.out_start();
  rtl.end_cycle();
  return w;
}
rtl::Beat single(u32 bytes, IcrcMode mode, Framing framing = kFraming) {
  return pins_of(Bytes(bytes, 0x11), 0, mode, framing, false);
}
}  // namespace

TEST_CASE("a packet leaves 5 cycles after it entered, whatever its length and mode",
          "[icrc][rtl]") {
  rtl::IcrcRtl rtl(GENERATE(32u, 64u));
  for (const u32 bytes : {58u, 64u, 65u, 128u, 1000u, 4200u})
    for (const IcrcMode mode : {IcrcMode::Bypass, IcrcMode::Generate, IcrcMode::Check})
      CHECK(through_rtl(rtl, Bytes(bytes, 0x22), mode, kFraming).latency == 5);
}

TEST_CASE("single beats pass back to back, one in each cycle", "[icrc][rtl]") {
  rtl::IcrcRtl rtl;
  const rtl::Beat beat = single(60, IcrcMode::Generate);
  unsigned valid = 0;
  for (unsigned cycle = 0; cycle < 20; ++cycle) {
    const Watched w = step(rtl, &beat);
    CHECK(w.ready);
    CHECK(w.start);
    CHECK(w.valid == (cycle >= 5));
    valid += w.valid && w.out.control.first && w.out.control.last && w.out.control.bytes == 64;
  }
  CHECK(valid == 15);
}

TEST_CASE("CRCs that need a beat of their own hold the next start back by one cycle",
          "[icrc][rtl]") {
  for (const u32 bytes : {57u, 58u, 59u, 60u, 61u, 62u, 64u}) {
    for (const IcrcMode mode : {IcrcMode::Generate, IcrcMode::Check}) {
      for (const Framing framing : {kFraming, Framing::IbLocal}) {
        INFO(bytes << " bytes, mode " << int(mode) << ", framing " << int(framing));
        const u32 fits = framing == Framing::IbLocal ? 58 : 60;  // 6 and 4 bytes behind
        const bool held = mode == IcrcMode::Generate && bytes > fits;
        rtl::IcrcRtl rtl;
        const rtl::Beat beat = single(bytes, mode, framing);
        CHECK(step(rtl, &beat).ready);
        CHECK(step(rtl, nullptr).ready == !held);
        CHECK(step(rtl, nullptr).ready);
      }
    }
  }
}

TEST_CASE("without a grant behind there is none in front, and it comes in the same cycle",
          "[icrc][rtl]") {
  rtl::IcrcRtl rtl;
  for (unsigned i = 0; i < 3; ++i) CHECK_FALSE(step(rtl, nullptr, false).ready);
  CHECK(step(rtl, nullptr, true).ready);
  CHECK_FALSE(rtl.assertion_failed());
}

TEST_CASE("room behind is taken with the start, 5 cycles ahead of the first beat", "[icrc][rtl]") {
  rtl::IcrcRtl rtl;
  const rtl::Beat beat = single(58, IcrcMode::Check);
  CHECK(step(rtl, &beat).start);
  // The receiver had one room: no grant from the next cycle on, and the packet still comes through.
  for (unsigned cycle = 1; cycle < 5; ++cycle) {
    const Watched w = step(rtl, nullptr, false);
    CHECK_FALSE(w.ready);
    CHECK_FALSE(w.valid);
  }
  CHECK(step(rtl, nullptr, false).valid);
  CHECK_FALSE(rtl.assertion_failed());
}

TEST_CASE("each breach of the contract by a neighbour makes an assertion of the RTL fire",
          "[icrc][rtl]") {
  rtl::IcrcRtl rtl;
  const Bytes two_beats(100, 0x33);
  const rtl::Beat first = pins_of(two_beats, 0, IcrcMode::Check, kFraming, false);
  const rtl::Beat second = pins_of(two_beats, 1, IcrcMode::Check, kFraming, false);
  SECTION("none: no assertion") {
    step(rtl, &first), step(rtl, &second), step(rtl, nullptr);
    CHECK_FALSE(rtl.assertion_failed());
  }
  SECTION("a start without a grant") {
    step(rtl, &first, false);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a gap inside a packet") {
    step(rtl, &first);
    CHECK_FALSE(rtl.assertion_failed());
    step(rtl, nullptr);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a first beat inside a packet") {
    step(rtl, &first), step(rtl, &first);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a packet without a first beat") {
    step(rtl, &second);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a grant that is withdrawn without a start") {
    step(rtl, nullptr, true);
    CHECK_FALSE(rtl.assertion_failed());
    step(rtl, nullptr, false);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a beat of 0 bytes") {
    rtl::Beat empty = second;
    empty.control.bytes = 0;
    step(rtl, &first), step(rtl, &empty);
    CHECK(rtl.assertion_failed());
  }
  SECTION("a beat inside a packet that is not full") {
    rtl::Beat part = first;
    part.control.bytes = 63;
    step(rtl, &part);
    CHECK(rtl.assertion_failed());
  }
}
}  // namespace hca::testbench

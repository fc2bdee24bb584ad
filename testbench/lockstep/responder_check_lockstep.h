// SPDX-License-Identifier: Apache-2.0
// rtl/responder_check/responder_check.sv and blocks::ResponderCheckUnit.
#pragma once
#include "rtl/cpp/responder_check_rtl.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/lockstep/request_look_ups.h"
#include "testbench/lockstep/responder_check_coverage.h"

namespace hca::testbench {
struct ResponderCheckCounts {
  u64 executed = 0, answered = 0, refused = 0, dropped = 0, followed = 0;
  void count(const ResponderCheckPacket& p);
  std::string text() const;
};

struct ResponderCheckLockstep {
  static constexpr const char* kName = "responder_check";
  static constexpr const char* kTwin = "ResponderCheckUnit";
  static constexpr const char* kData = "verdict";
  using Packet = ResponderCheckPacket;
  using Stimulus = ResponderCheckStimulus;
  using Unit = blocks::ResponderCheckUnit;
  using Rtl = rtl::ResponderCheckRtl;
  using In = rtl::Parsed;
  using Out = rtl::Judged;
  using Coverage = ResponderCheckCoverage;
  using Counts = ResponderCheckCounts;
  using LookUps = RequestLookUps;

  static blocks::ResponderCheckItem item_of(Packet& p) { return p.item(); }
  static void take_result(Packet&, const engine::Event&) {}
  static std::span<const u8> sent(const Packet& p) { return p.frame; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet&) { return 0; }
  static rtl::BeatOf<Out> expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// rtl/icrc/icrc.sv and blocks::IcrcUnit.
#pragma once
#include "rtl/cpp/icrc_rtl.h"
#include "testbench/lockstep/icrc_coverage.h"
#include "testbench/lockstep/lockstep_options.h"

namespace hca::testbench {
struct IcrcCounts {
  u64 generated = 0, good = 0, bad = 0, bypassed = 0;  // bad: ICRC or VCRC
  u64 bad_vcrc = 0;                                    // with a good ICRC
  void count(const IcrcPacket& p);
  std::string text() const;
};

struct IcrcLockstep {
  static constexpr const char* kName = "icrc";
  static constexpr const char* kTwin = "IcrcUnit";
  static constexpr const char* kData = "frame";
  using Packet = IcrcPacket;
  using Stimulus = IcrcStimulus;
  using Unit = blocks::IcrcUnit;
  using Rtl = rtl::IcrcRtl;
  using In = rtl::BeatControl;
  using Out = rtl::BeatControl;
  using Coverage = IcrcCoverage;
  using Counts = IcrcCounts;

  static blocks::IcrcItem item_of(Packet& p);
  static void take_result(Packet& p, const engine::Event& leaves);
  static std::span<const u8> sent(const Packet& p) { return p.sent; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet& p) { return p.bytes_out; }
  static rtl::Beat expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// rtl/rx_parser/rx_parser.sv and blocks::RxParserUnit.
#pragma once
#include "rtl/cpp/rx_parser_rtl.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/lockstep/rx_parser_coverage.h"

namespace hca::testbench {
struct RxParserCounts {
  u64 good = 0, reserved = 0, bad_crc = 0, bad = 0, late = 0;  // late: bad only at its end
  void count(const RxParserPacket& p);
  std::string text() const;
};

struct RxParserLockstep {
  static constexpr const char* kName = "rx_parser";
  static constexpr const char* kTwin = "RxParserUnit";
  static constexpr const char* kData = "payload";
  using Packet = RxParserPacket;
  using Stimulus = RxParserStimulus;
  using Unit = blocks::RxParserUnit;
  using Rtl = rtl::RxParserRtl;
  using In = rtl::BeatControl;
  using Out = rtl::Parsed;
  using Coverage = RxParserCoverage;
  using Counts = RxParserCounts;

  static blocks::RxParserItem item_of(Packet& p) {
    return {p.frame, p.link(), {p.icrc_ok, p.vcrc_ok}, &p.parsed};
  }
  static void take_result(Packet&, const engine::Event&) {}
  static std::span<const u8> sent(const Packet& p) { return p.frame; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet& p) { return u32(p.frame.size()); }
  static rtl::BeatOf<Out> expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

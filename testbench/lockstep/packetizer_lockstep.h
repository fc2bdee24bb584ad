// SPDX-License-Identifier: Apache-2.0
// rtl/packetizer/packetizer.sv and blocks::PacketizerUnit.
#pragma once
#include "model/blocks/twins/packetizer_unit.h"
#include "rtl/cpp/packetizer_rtl.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/lockstep/packetizer_coverage.h"

namespace hca::testbench {
struct PacketizerCounts {
  u64 payload_bytes = 0, empty = 0, padded = 0;
  void count(const PacketizerPacket& p);
  std::string text() const;
};

struct PacketizerLockstep {
  static constexpr const char* kName = "packetizer";
  static constexpr const char* kTwin = "PacketizerUnit";
  static constexpr const char* kData = "frame";
  using Packet = PacketizerPacket;
  using Stimulus = PacketizerStimulus;
  using Unit = blocks::PacketizerUnit;
  using Rtl = rtl::PacketizerRtl;
  using In = rtl::Descriptor;
  using Out = rtl::BeatControl;
  using Coverage = PacketizerCoverage;
  using Counts = PacketizerCounts;

  static blocks::PacketizerItem item_of(Packet& p);
  static void take_result(Packet& p, const engine::Event& leaves) { p.bytes_out = u32(leaves.a); }
  static std::span<const u8> sent(const Packet& p) { return p.payload; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet& p) { return p.bytes_out; }
  static rtl::Beat expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

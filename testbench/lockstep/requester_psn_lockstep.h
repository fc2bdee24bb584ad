// SPDX-License-Identifier: Apache-2.0
// rtl/requester_psn/requester_psn.sv and blocks::RequesterPsnUnit.
#pragma once
#include "rtl/cpp/requester_psn_rtl.h"
#include "testbench/lockstep/context_look_ups.h"
#include "testbench/lockstep/lockstep_options.h"
#include "testbench/lockstep/requester_psn_coverage.h"

namespace hca::testbench {
struct RequesterPsnCounts {
  u64 taken = 0, waiting = 0, sent = 0, repeated = 0, acknowledged = 0, returned = 0, ghosts = 0,
      followed = 0;
  void count(const RequesterPsnPacket& p);
  std::string text() const;
};

struct RequesterPsnLockstep {
  static constexpr const char* kName = "requester_psn";
  static constexpr const char* kTwin = "RequesterPsnUnit";
  static constexpr const char* kTakes = "steps of queue pairs";
  static constexpr const char* kData = "result";
  static constexpr bool kOneBeat = true;
  using Packet = RequesterPsnPacket;
  using Stimulus = RequesterPsnStimulus;
  using Unit = blocks::RequesterPsnUnit;
  using Rtl = rtl::RequesterPsnRtl;
  using In = rtl::PsnStepBeat;
  using Out = rtl::PsnStepped;
  using Coverage = RequesterPsnCoverage;
  using Counts = RequesterPsnCounts;
  using LookUps = ContextLookUps<Packet, Out>;

  static blocks::RequesterPsnItem item_of(Packet& p);
  static void take_result(Packet&, const engine::Event&) {}
  static std::span<const u8> sent(const Packet&) { return {}; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet&) { return 0; }
  static rtl::BeatOf<Out> expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// rtl/completion/completion.sv and blocks::CompletionUnit.
#pragma once
#include "rtl/cpp/completion_rtl.h"
#include "testbench/lockstep/completion_coverage.h"
#include "testbench/lockstep/context_look_ups.h"
#include "testbench/lockstep/lockstep_options.h"

namespace hca::testbench {
struct CompletionCounts {
  u64 written = 0, first_lost = 0, lost = 0, doorbells = 0, without_queue = 0, followed = 0;
  void count(const CompletionPacket& p);
  std::string text() const;
};

struct CompletionLockstep {
  static constexpr const char* kName = "completion";
  static constexpr const char* kTwin = "CompletionUnit";
  static constexpr const char* kTakes = "CQEs and doorbells";
  static constexpr const char* kData = "result";
  static constexpr bool kOneBeat = true;
  using Packet = CompletionPacket;
  using Stimulus = CompletionStimulus;
  using Unit = blocks::CompletionUnit;
  using Rtl = rtl::CompletionRtl;
  using In = rtl::CqStepBeat;
  using Out = rtl::CqStepped;
  using Coverage = CompletionCoverage;
  using Counts = CompletionCounts;
  using LookUps = ContextLookUps<Packet, Out>;

  static blocks::CompletionItem item_of(Packet& p);
  static void take_result(Packet&, const engine::Event&) {}
  static std::span<const u8> sent(const Packet&) { return {}; }
  static void set_side_band(const Packet& p, In& control);
  static u32 bytes_out(const Packet&) { return 0; }
  static rtl::BeatOf<Out> expected(const Packet& p, u32 index, u32 beat_bytes);
  static std::string describe(const Packet& p, bool left);
};
}  // namespace hca::testbench

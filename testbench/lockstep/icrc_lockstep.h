// SPDX-License-Identifier: Apache-2.0
// rtl/icrc.sv and blocks::IcrcUnit side by side: the same random packets, the same random stalls
// behind, compared in every cycle on both streams until they differ.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "model/blocks/icrc_unit.h"
#include "rtl/icrc_rtl.h"
#include "testbench/lockstep/icrc_coverage.h"

namespace hca::testbench {
// One fault put between the RTL's pins and the comparison in the first cycle from `from` on in
// which it shows: a test of the comparison itself.
struct PinFault {
  enum class Kind : u8 {
    None,
    DataBit,
    BytesField,
    FirstField,
    LastField,
    ModeField,
    FramingField,
    VlanField,
    IcrcOk,
    VcrcOk,
    BeatLost,
    BeatInvented,
    ReadyLost,
    ReadyInvented,
    StartLost,
  };
  Kind kind = Kind::None;
  engine::Cycle from = 0;
  u32 bit = 0;  // DataBit: which one
};

struct IcrcLockstepOptions {
  u64 seed = 1;
  engine::Cycle cycles = 100'000;
  u32 stall_percent = 20;         // of the cycles in which the receiver behind takes nothing
  u32 rooms = 8;                  // packets for which there is room behind the unit, 1 to 8
  blocks::IcrcUnitConfig twin{};  // beat_bytes, 32 or 64, is the RTL's too
  PinFault fault{};
  std::function<rtl::IcrcBlock()> rtl{};  // another one in the place of rtl/icrc.sv
  bool break_contract =
      false;          // the sender leaves gaps inside packets: the RTL's assertion must fire
  std::string waves;  // FST of the cycles around the first divergence; empty: none
};

struct Divergence {
  engine::Cycle cycle = 0;
  std::string port, field, model, rtl;  // where, and the value on either side
  std::string packet;                   // which packet, several lines, its bytes among them
  std::string text() const;
};

struct IcrcLockstepResult {
  engine::Cycle cycles = 0;                            // compared
  u64 packets = 0, beats = 0;                          // that have left the RTL
  u64 generated = 0, good = 0, bad = 0, bypassed = 0;  // bad: ICRC or VCRC
  u64 bad_vcrc = 0;                                    // with a good ICRC
  u64 full_rate_starts = 0;       // starts in the first possible cycle behind the packet before
  u64 held_cycles = 0;            // a packet on offer and no grant
  IcrcCoverage coverage;          // what these packets have tried
  bool assertion_failed = false;  // one of the RTL; it has printed its message
  std::optional<engine::Cycle> fault_at;  // when the PinFault was put
  std::optional<Divergence> divergence;
  std::string waves;  // the file, if one was written
  bool equal() const { return !divergence && !assertion_failed; }
};

// With `waves`, a run that ends with a divergence or an assertion is done again with a waveform of
// its last cycles.
IcrcLockstepResult run_icrc_lockstep(const IcrcLockstepOptions& options);
}  // namespace hca::testbench

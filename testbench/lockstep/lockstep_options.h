// SPDX-License-Identifier: Apache-2.0
// Options and results of a lockstep run. Pair: see lockstep.h.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "rtl/cpp/block_rtl.h"
#include "testbench/lockstep/divergence.h"
#include "testbench/lockstep/given_frames.h"

namespace hca::testbench {
// One fault injected between the RTL's pins and the comparison, in the first cycle from `from` on
// in which it is visible: a test of the comparison itself.
struct PinFault {
  enum class Kind : u8 {
    None,
    DataBit,
    Field,
    BeatLost,
    BeatInvented,
    ReadyLost,
    ReadyInvented,
    StartLost
  };
  Kind kind = Kind::None;
  engine::Cycle from = 0;
  u32 bit = 0;               // DataBit: the bit
  std::string_view field{};  // Field: the field whose lowest bit is inverted
};

// True: the RTL has look-up ports.
template <class Pair>
inline constexpr bool kLooksUp = requires {
  typename Pair::LookUps;
};

// Makes the RTL of a run.
template <class Pair>
using RtlMaker =
    std::function<rtl::BlockRtl<typename Pair::In, typename Pair::Out>(u32 beat_bytes)>;

template <class Pair>
struct LockstepOptions {
  u64 seed = 1;
  engine::Cycle cycles = 100'000;
  u32 stall_percent = 20;              // share of cycles in which the receiver stalls
  u32 rooms = 8;                       // packets for which there is room after the block, 1 to 8
  typename Pair::Unit::Config twin{};  // beat_bytes, 32 or 64, is the RTL's too
  PinFault fault{};
  std::function<rtl::BlockRtl<typename Pair::In, typename Pair::Out>()> rtl{};  // another one
  GivenFrames given{};  // sent in turn instead of random packets, if any; without resets
  engine::Cycle reset_every = 4000;  // cycles, see Lives
  // The sender leaves gaps inside packets, or, with packets of one beat, starts without a grant: an
  // assertion must fire.
  bool break_contract = false;
  // The receiver withdraws a grant: an assertion must fire.
  bool withdraw_grants = false;
  std::string waves;  // FST of the cycles around the first divergence; empty: none
};

template <class Pair>
struct LockstepResult {
  engine::Cycle cycles = 0;    // compared
  u64 packets = 0, beats = 0;  // that have left the RTL
  u64 full_rate_starts = 0;    // starts in the first possible cycle after the previous packet
  u64 held_cycles = 0;         // a packet on offer and no grant
  u64 resets = 0;
  typename Pair::Counts counts;           // of these packets
  typename Pair::Coverage coverage;       // of these packets
  bool assertion_failed = false;          // of the RTL; it has printed its message
  bool ended = false;                     // the RTL ended the run and has printed where
  std::optional<engine::Cycle> fault_at;  // when the PinFault was injected
  std::optional<Divergence> divergence;
  std::string waves;             // the file, if one was written
  engine::Cycle waves_from = 0;  // its first cycle
  bool equal() const { return !divergence && !assertion_failed && !ended; }
};

template <class Pair>
struct ElasticResult {
  engine::Cycle cycles = 0;       // of the RTL
  engine::Cycle twin_cycles = 0;  // the unit's cycles for the same packets by its contract
  u64 packets = 0, beats = 0;     // that have left the RTL
  u64 resets = 0;
  u64 held_beats = 0;  // cycles in which a beat waited before the block, inside a packet
  engine::Cycle least_latency = engine::kNever, most_latency = 0;  // first beat in to first out
  typename Pair::Counts counts;
  typename Pair::Coverage coverage;
  bool assertion_failed = false, ended = false;
  std::optional<Divergence> divergence;
  std::string waves;
  engine::Cycle waves_from = 0;
  bool equal() const { return !divergence && !assertion_failed && !ended; }
};

// The runs: lockstep.h, elastic.h. Each of our pairs is instantiated once, in its .cpp file.
template <class Pair>
LockstepResult<Pair> run_lockstep(const LockstepOptions<Pair>& options);
template <class Pair>
ElasticResult<Pair> run_elastic(const LockstepOptions<Pair>& options);
}  // namespace hca::testbench

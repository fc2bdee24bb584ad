// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/port/lane_arbiter.h"

namespace hca::blocks {
// Auto: credits in native framings, PFC in the others (link_defaults.h); a chip does not take it.
// Endless: no bound, and without this block. Lossy: a buffer without flow control.
enum class FlowControl : u8 { Auto, Endless, Lossy, Pause, Pfc, Credits };
inline constexpr std::array<std::string_view, 6> kFlowControlNames{"auto",  "endless", "lossy",
                                                                   "pause", "pfc",     "credits"};

// How an SL selects its virtual lane.
enum class LaneChoice : u8 { Modulo, Table };
inline constexpr std::array<std::string_view, 2> kLaneChoiceNames{"modulo", "table"};

struct LinkControlConfig {
  // The larger ones of the receive buffers of a port of 262016 B: "HowTo Tune Receive Buffers on
  // Mellanox Adapter Cards", DOC-2933, two of them by default.
  static constexpr u32 kBuffer = 130'944;
  FlowControl mode = FlowControl::Auto;
  u32 buffer = kBuffer;   // bytes for each lane
  u32 xoff = 0, xon = 0;  // bytes; 0: derived (link_headroom.h)
  u32 shared = 0;         // bytes
  u32 alpha = 64;         // eighths
  u32 quanta = 65'535;
  u32 credit_update = 64;  // bytes
  u32 lanes = 1;
  LaneChoice sl2vl = LaneChoice::Modulo;
  std::array<u32, 16> sl{};                                  // the VL of each SL, of the table
  LaneArbiter::Weights low{1, 1, 1, 1, 1, 1, 1, 1}, high{};  // of each lane
  u32 high_limit = 0;
  u64 stall_limit = 100'000'000;  // ps; 0: none

  bool any() const { return mode != FlowControl::Endless; }
  bool stops() const { return mode == FlowControl::Pause || mode == FlowControl::Pfc; }
  // The virtual lane of each SL.
  std::array<u32, 16> lane_of_sl() const {
    if (sl2vl == LaneChoice::Table) return sl;
    std::array<u32, 16> lane{};
    for (u32 i = 0; i < 16; ++i) lane[i] = i % lanes;
    return lane;
  }
  // Arbitration tables of entries; if empty, the weights above apply.
  LaneArbiter::Entries high_table{}, low_table{};
  bool has_tables() const { return !low_table.empty() || !high_table.empty(); }
  LaneArbiter::Entries low_entries() const {
    return has_tables() ? low_table : LaneArbiter::entries_of(low);
  }
  LaneArbiter::Entries high_entries() const {
    return has_tables() ? high_table : LaneArbiter::entries_of(high);
  }
};
// Throws engine::ConfigError on values that conflict with each other.
void check_link_control(const LinkControlConfig& config);
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::LinkControlConfig> {
  using C = hca::blocks::LinkControlConfig;
  static constexpr std::string_view block = "link_control";
  static constexpr std::string_view sentence = "receive buffers and flow control of a port";
  static constexpr auto rows = join_all(
      make_rows(
          knob("mode", &C::mode, hca::blocks::kFlowControlNames,
               "flow control at both ends: PAUSE for the port, PFC by priority, InfiniBand credits "
               "by virtual lane; auto: credits in native framings, otherwise PFC; lossy: none; "
               "endless: none, and buffers without a bound"),
          knob("buffer", &C::buffer, Unit::Bytes, 256, 16 << 20,
               "receive buffer of each lane (modes lossy and pause: of the port); frames without "
               "room are dropped"),
          knob("shared", &C::shared, Unit::Bytes, 0, 16 << 20,
               "lossy, pause, pfc: shared buffer of the port, for bytes beyond the lanes' own "
               "buffers"),
          knob("alpha", &C::alpha, Unit::Count, 1, 64,
               "dynamic threshold in eighths: a lane may occupy up to alpha / 8 times the free "
               "shared "
               "space"),
          knob("xoff", &C::xoff, Unit::Bytes, 0, 16 << 20,
               "pause, pfc: send XOFF when occupancy reaches this many bytes; 0 B: the buffer less "
               "what may still arrive then"),
          knob("xon", &C::xon, Unit::Bytes, 0, 16 << 20,
               "pause, pfc: send XON when occupancy falls to this many bytes; with xoff 0 B: one "
               "frame below it"),
          knob(
              "quanta", &C::quanta, Unit::Count, 2, 65'535,
              "pause, pfc: duration of an XOFF in units of 512 bits; it is repeated after half the "
              "time"),
          knob("credit_update", &C::credit_update, Unit::Bytes, 64, 131'072,
               "credits: freed room that triggers an update; an empty buffer advertises all its "
               "room"),
          knob("lanes", &C::lanes, Unit::Count, 1, hca::blocks::kLanes, "credits: data lanes"),
          knob("sl2vl", &C::sl2vl, hca::blocks::kLaneChoiceNames,
               "InfiniBand: SL i uses VL i modulo lanes, or the VL of the table")),
      engine::knobs_of<"sl_", "table: VL of SL ">(&C::sl, Unit::Count, 0, hca::blocks::kLanes - 1),
      engine::knobs_of<"low_", "weight in the low table, in units of 64 B, of lane or priority ">(
          &C::low, Unit::Count, 1, 255),
      engine::knobs_of<"high_",
                       "weight in the high table (0: not in the table) of lane or priority ">(
          &C::high, Unit::Count, 0, 255),
      make_rows(
          knob("high_limit", &C::high_limit, Unit::Count, 0, 255,
               "limit of the high table while the low one waits, in units of 4096 B; 255: no "
               "limit"),
          knob("stall_limit", &C::stall_limit, Unit::Picoseconds, 0, 1'000'000'000'000,
               "both directions of the port stand still for this time: requests without room are "
               "dropped until a packet may be sent, as both ends may wait for each other; 0 ps: "
               "never")));
};

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/port/lane_arbiter.h"

namespace hca::blocks {
enum class FlowControl : u8 { None, Pause, Pfc, Credits };
inline constexpr std::array<std::string_view, 4> kFlowControlNames{"none", "pause", "pfc",
                                                                   "credits"};

// How an SL selects its virtual lane.
enum class LaneChoice : u8 { Modulo, Table };
inline constexpr std::array<std::string_view, 2> kLaneChoiceNames{"modulo", "table"};

struct LinkControlConfig {
  FlowControl mode = FlowControl::None;
  u32 buffer = 0;         // bytes for each lane; 0: unlimited, and without this block
  u32 xoff = 0, xon = 0;  // bytes
  u32 shared = 0;         // bytes
  u32 alpha = 64;         // eighths
  u32 quanta = 65'535;
  u32 credit_update = 64;  // bytes
  u32 lanes = 1;
  LaneChoice sl2vl = LaneChoice::Modulo;
  u32 sl_0 = 0, sl_1 = 0, sl_2 = 0, sl_3 = 0, sl_4 = 0, sl_5 = 0, sl_6 = 0, sl_7 = 0;
  u32 sl_8 = 0, sl_9 = 0, sl_10 = 0, sl_11 = 0, sl_12 = 0, sl_13 = 0, sl_14 = 0, sl_15 = 0;
  u32 low_0 = 1, low_1 = 1, low_2 = 1, low_3 = 1, low_4 = 1, low_5 = 1, low_6 = 1, low_7 = 1;
  u32 high_0 = 0, high_1 = 0, high_2 = 0, high_3 = 0, high_4 = 0, high_5 = 0, high_6 = 0;
  u32 high_7 = 0, high_limit = 0;

  bool any() const { return buffer; }
  // The virtual lane of each SL.
  std::array<u32, 16> lane_of_sl() const {
    if (sl2vl == LaneChoice::Table)
      return {sl_0, sl_1, sl_2,  sl_3,  sl_4,  sl_5,  sl_6,  sl_7,
              sl_8, sl_9, sl_10, sl_11, sl_12, sl_13, sl_14, sl_15};
    std::array<u32, 16> lane{};
    for (u32 sl = 0; sl < 16; ++sl) lane[sl] = sl % lanes;
    return lane;
  }
  // Arbitration tables of entries; if empty, the weights above apply.
  LaneArbiter::Entries high_table{}, low_table{};
  LaneArbiter::Entries low() const {
    if (!low_table.empty() || !high_table.empty()) return low_table;
    return LaneArbiter::entries_of({low_0, low_1, low_2, low_3, low_4, low_5, low_6, low_7});
  }
  LaneArbiter::Entries high() const {
    if (!low_table.empty() || !high_table.empty()) return high_table;
    return LaneArbiter::entries_of(
        {high_0, high_1, high_2, high_3, high_4, high_5, high_6, high_7});
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
  static constexpr auto rows = make_rows(
      knob("mode", &C::mode, hca::blocks::kFlowControlNames,
           "flow control at both ends: PAUSE for the port, PFC by priority, InfiniBand credits by "
           "virtual lane"),
      knob("buffer", &C::buffer, Unit::Bytes, 0, 16 << 20,
           "receive buffer of each lane (modes none and pause: of the port); frames without room "
           "are dropped; 0 B: unlimited, no flow control"),
      knob("shared", &C::shared, Unit::Bytes, 0, 16 << 20,
           "none, pause, pfc: shared buffer of the port, for bytes beyond the lanes' own buffers"),
      knob("alpha", &C::alpha, Unit::Count, 1, 64,
           "dynamic threshold in eighths: a lane may occupy up to alpha / 8 times the free shared "
           "space"),
      knob("xoff", &C::xoff, Unit::Bytes, 0, 16 << 20,
           "pause, pfc: send XOFF when occupancy reaches this many bytes"),
      knob("xon", &C::xon, Unit::Bytes, 0, 16 << 20,
           "pause, pfc: send XON when occupancy falls to this many bytes"),
      knob("quanta", &C::quanta, Unit::Count, 2, 65'535,
           "pause, pfc: duration of an XOFF in units of 512 bits; it is repeated after half the "
           "time"),
      knob("credit_update", &C::credit_update, Unit::Bytes, 64, 131'072,
           "credits: freed room that triggers an update; an empty buffer advertises all its room"),
      knob("lanes", &C::lanes, Unit::Count, 1, hca::blocks::kLanes, "credits: data lanes"),
      knob("sl2vl", &C::sl2vl, hca::blocks::kLaneChoiceNames,
           "InfiniBand: SL i uses VL i modulo lanes, or the VL of the table"),
      knob("sl_0", &C::sl_0, Unit::Count, 0, hca::blocks::kLanes - 1, "table: VL of SL 0"),
      knob("sl_1", &C::sl_1, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 1"),
      knob("sl_2", &C::sl_2, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 2"),
      knob("sl_3", &C::sl_3, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 3"),
      knob("sl_4", &C::sl_4, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 4"),
      knob("sl_5", &C::sl_5, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 5"),
      knob("sl_6", &C::sl_6, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 6"),
      knob("sl_7", &C::sl_7, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 7"),
      knob("sl_8", &C::sl_8, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 8"),
      knob("sl_9", &C::sl_9, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 9"),
      knob("sl_10", &C::sl_10, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 10"),
      knob("sl_11", &C::sl_11, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 11"),
      knob("sl_12", &C::sl_12, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 12"),
      knob("sl_13", &C::sl_13, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 13"),
      knob("sl_14", &C::sl_14, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 14"),
      knob("sl_15", &C::sl_15, Unit::Count, 0, hca::blocks::kLanes - 1, "VL of SL 15"),
      knob("low_0", &C::low_0, Unit::Count, 1, 255,
           "weight of lane or priority 0 in the low table, in units of 64 B"),
      knob("low_1", &C::low_1, Unit::Count, 1, 255, "of lane 1"),
      knob("low_2", &C::low_2, Unit::Count, 1, 255, "of lane 2"),
      knob("low_3", &C::low_3, Unit::Count, 1, 255, "of lane 3"),
      knob("low_4", &C::low_4, Unit::Count, 1, 255, "of lane 4"),
      knob("low_5", &C::low_5, Unit::Count, 1, 255, "of lane 5"),
      knob("low_6", &C::low_6, Unit::Count, 1, 255, "of lane 6"),
      knob("low_7", &C::low_7, Unit::Count, 1, 255, "of lane 7"),
      knob("high_0", &C::high_0, Unit::Count, 0, 255,
           "weight of lane or priority 0 in the high table; 0: not in the table"),
      knob("high_1", &C::high_1, Unit::Count, 0, 255, "of lane 1"),
      knob("high_2", &C::high_2, Unit::Count, 0, 255, "of lane 2"),
      knob("high_3", &C::high_3, Unit::Count, 0, 255, "of lane 3"),
      knob("high_4", &C::high_4, Unit::Count, 0, 255, "of lane 4"),
      knob("high_5", &C::high_5, Unit::Count, 0, 255, "of lane 5"),
      knob("high_6", &C::high_6, Unit::Count, 0, 255, "of lane 6"),
      knob("high_7", &C::high_7, Unit::Count, 0, 255, "of lane 7"),
      knob("high_limit", &C::high_limit, Unit::Count, 0, 255,
           "limit of the high table while the low one waits, in units of 4096 B; 255: no limit"));
};

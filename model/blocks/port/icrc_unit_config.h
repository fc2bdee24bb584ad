// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
// Allowed widths of a datapath.
inline constexpr engine::KnobRule kBeatWidth{[](u64 bytes) { return bytes % 32 == 0; },
                                             "is no width of a datapath", "a multiple of 32 B"};

struct IcrcUnitConfig {
  engine::Cycle latency = 5;   // cycles, first beat in to first beat out, at least 1
  engine::Cycle interval = 1;  // cycles, start to start, at least 1
  u32 beat_bytes = 64;         // bytes a cycle
};
// The rate of a core's datapath in bits a second, in each direction of a port.
constexpr u64 core_rate(const IcrcUnitConfig& icrc, u64 clock_hz) {
  return u64{8} * icrc.beat_bytes * clock_hz;
}
constexpr bool is_slow(const IcrcUnitConfig& icrc, u64 link_rate, u64 clock_hz) {
  return core_rate(icrc, clock_hz) < link_rate;
}
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::IcrcUnitConfig> {
  using C = hca::blocks::IcrcUnitConfig;
  static constexpr std::string_view block = "icrc_unit";
  static constexpr std::string_view sentence = "ICRC and VCRC, inserted and checked at line rate";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from first beat in to first beat out", "from packet to packet"),
      make_rows(knob("beat_bytes", &C::beat_bytes, Unit::Bytes, 32, 512, blocks::kBeatWidth,
                     "bytes of one beat: the width of the datapath, 256 to 4096 bits")));
};

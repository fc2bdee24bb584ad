// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/port/tx_start.h"

namespace hca::blocks {
// Of whole packets, whatever the path MTU.
inline constexpr engine::KnobRule kUnitOfPackets{[](u64 bytes) { return bytes % 4096 == 0; },
                                                 "is no whole number of packets of any path MTU",
                                                 "a multiple of 4 KiB"};

struct PacketizerConfig {
  Cycle latency = 4, interval = 1;
  TxStart tx_start = TxStart::Threshold;
  u32 buffers = 32;                 // of each port: packets between payload request and wire
  u32 lane_buffers = 0;             // the same of each lane; 0: all share `buffers`
  u32 unit = 0;                     // bytes; 0: packets alone
  u64 unit_rate = 100'000'000'000;  // bit/s
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::PacketizerConfig> {
  using C = hca::blocks::PacketizerConfig;
  static constexpr std::string_view block = "packetizer";
  static constexpr std::string_view sentence = "headers from the tables, payload gathered by DMA";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a packet to its first DMA request", "between two packets"),
      make_rows(knob("tx_start", &C::tx_start, hca::blocks::kTxStartNames,
                     "send when the payload is in, or as early as no gap can open"),
                knob("buffers", &C::buffers, Unit::Count, 1, blocks::kMostPackets,
                     "packets of a port between payload request and wire"),
                knob("lane_buffers", &C::lane_buffers, Unit::Count, 0,
                     blocks::kMostPackets / blocks::kLanes,
                     "instead, of each lane of link_control a port has so many; 0: all share "
                     "`buffers`"),
                knob("unit", &C::unit, Unit::Bytes, 0, 1 << 16, blocks::kUnitOfPackets,
                     "of a message, that leave when all of them are in; 0 B: packets alone"),
                knob("unit_rate", &C::unit_rate, Unit::BitsPerSecond, 1'000'000'000,
                     4'000'000'000'000, "at which the bytes of a unit are in")));
};

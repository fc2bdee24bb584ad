// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/limits.h"
#include "model/blocks/lib/stage_config.h"
#include "model/blocks/port/tx_start.h"

namespace hca::blocks {
// A unit is a whole number of packets, for every path MTU.
inline constexpr engine::KnobRule kUnitOfPackets{[](u64 bytes) { return bytes % 4096 == 0; },
                                                 "is no whole number of packets of any path MTU",
                                                 "a multiple of 4 KiB"};

struct PacketizerConfig {
  Cycle latency = 4, interval = 1;
  TxStart tx_start = TxStart::Threshold;
  u32 buffers = 32;      // per port: packets between payload request and wire
  u32 lane_buffers = 0;  // the same for each lane; 0: all share `buffers`
  // Bytes of them: what a link of 100 Gb/s sends in 2.6 us, several round trips to memory.
  u32 buffer_bytes = 32 << 10;
  u32 unit = 0;                     // bytes; 0: no units
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
                     "send when the payload is in, or as soon as no gap can open"),
                knob("buffers", &C::buffers, Unit::Count, 1, blocks::kMostPackets,
                     "packets of a port between payload request and wire"),
                knob("lane_buffers", &C::lane_buffers, Unit::Count, 0,
                     blocks::kMostPackets / blocks::kLanes,
                     "instead of `buffers`: the number for each lane of link_control of a port; 0: "
                     "all lanes share `buffers`"),
                knob("buffer_bytes", &C::buffer_bytes, Unit::Bytes, 256, 16 << 20,
                     "bytes of buffers, and of lane_buffers each: another packet is begun while "
                     "fewer are held"),
                knob("unit", &C::unit, Unit::Bytes, 0, 1 << 16, blocks::kUnitOfPackets,
                     "bytes of a message that leave together when all of them are in; 0 B: each "
                     "packet alone"),
                knob("unit_rate", &C::unit_rate, Unit::BitsPerSecond, 1'000'000'000,
                     4'000'000'000'000, "rate at which the bytes of a unit arrive")));
};

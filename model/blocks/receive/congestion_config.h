// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"
#include "model/proto/transport/transport_options.h"

namespace hca::blocks {
struct CongestionConfig {
  Cycle latency = 1, interval = 1;
  u64 cnp_interval = 1000 * proto::kCnpIntervalNs;  // picoseconds, per queue pair
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::CongestionConfig> {
  using C = hca::blocks::CongestionConfig;
  static constexpr std::string_view block = "congestion";
  static constexpr std::string_view sentence = "sends CNPs for packets with a congestion mark";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a marked packet to its CNP", "between two CNPs"),
      make_rows(knob("cnp_interval", &C::cnp_interval, Unit::Picoseconds, 0, 1'000'000'000'000,
                     "shortest time between two CNPs of a queue pair")));
};

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct DoorbellConfig {
  Cycle latency = 4, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::DoorbellConfig> {
  static constexpr std::string_view block = "doorbell";
  static constexpr std::string_view sentence = "decodes MMIO writes to the BAR";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::DoorbellConfig>(
      "from a write at the BAR to its target block", "between two writes");
};

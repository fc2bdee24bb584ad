// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct EventConfig {
  Cycle latency = 2, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::EventConfig> {
  static constexpr std::string_view block = "event";
  static constexpr std::string_view sentence = "EQEs";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::EventConfig>(
      "from an event to its DMA write", "between two events");
};

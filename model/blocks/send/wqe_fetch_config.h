// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct WqeFetchConfig {
  Cycle latency = 2, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::WqeFetchConfig> {
  static constexpr std::string_view block = "wqe_fetch";
  static constexpr std::string_view sentence = "reads WQEs by DMA";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::WqeFetchConfig>(
      "from a turn to its DMA request", "between two turns");
};

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct QpContextConfig {
  Cycle latency = 2, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::QpContextConfig> {
  static constexpr std::string_view block = "qp_context";
  static constexpr std::string_view sentence = "contexts of queue pairs";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::QpContextConfig>(
      "from a look-up to its answer", "between two look-ups of one port");
};

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct ResponseCheckConfig {
  Cycle latency = 4, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponseCheckConfig> {
  static constexpr std::string_view block = "response_check";
  static constexpr std::string_view sentence = "ACKs, NAKs and responses at the requester";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::ResponseCheckConfig>(
      "from a good response to the requester, without look-up", "between two responses");
};

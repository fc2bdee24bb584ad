// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct CommandConfig {
  Cycle latency = 20, interval = 1;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::CommandConfig> {
  static constexpr std::string_view block = "command";
  static constexpr std::string_view sentence = "mailbox commands, transitions to Error";
  static constexpr auto rows = hca::blocks::stage_rows<hca::blocks::CommandConfig>(
      "from a command block to its effect", "from a command to the next");
};

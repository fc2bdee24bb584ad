// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct ResponderReplyConfig {
  Cycle latency = 3, interval = 1;
  u32 depth = 16;  // answers waiting for the port
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponderReplyConfig> {
  using C = hca::blocks::ResponderReplyConfig;
  static constexpr std::string_view block = "responder_reply";
  static constexpr std::string_view sentence = "ACK, NAK, RNR NAK and CNP";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from an answer to the port", "between two answers"),
      make_rows(knob("depth", &C::depth, Unit::Count, 1, 1024, "answers waiting for a port")));
};

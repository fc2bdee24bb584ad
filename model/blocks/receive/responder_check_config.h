// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
enum class ContextForwarding : u8 { Stall, Forward };
inline constexpr std::array<std::string_view, 2> kContextForwardingNames{"stall", "forward"};

struct ResponderCheckConfig {
  Cycle latency = 7, interval = 1;  // one rule stage a cycle
  ContextForwarding context_forwarding = ContextForwarding::Forward;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ResponderCheckConfig> {
  using C = hca::blocks::ResponderCheckConfig;
  static constexpr std::string_view block = "responder_check";
  static constexpr std::string_view sentence = "9.6 header validation, then 9.7 checks";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("all rule stages, without look-ups", "between two requests"),
      make_rows(knob("context_forwarding", &C::context_forwarding,
                     hca::blocks::kContextForwardingNames,
                     "a request whose context is being changed waits, or gets the new value")));
};

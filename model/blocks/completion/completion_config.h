// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
struct CompletionConfig {
  Cycle latency = 3, interval = 1;
  u32 buffers = 64;  // CQEs in flight to memory
  static constexpr u32 kMostBuffers = 64;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::CompletionConfig> {
  using C = hca::blocks::CompletionConfig;
  static constexpr std::string_view block = "completion";
  static constexpr std::string_view sentence = "CQEs, CQ overflow, arming";
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a completion to its DMA write", "between two completions"),
      make_rows(knob("buffers", &C::buffers, Unit::Count, 1, C::kMostBuffers,
                     "CQEs in flight to memory")));
};

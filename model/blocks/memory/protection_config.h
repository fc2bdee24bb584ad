// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>

#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
inline constexpr engine::KnobRule kPowerOfTwo{[](u64 n) { return std::has_single_bit(n); },
                                              "is no power of two", "a power of two"};

struct ProtectionConfig {
  Cycle latency = 2, interval = 1;
  u32 page = 2 << 20;
};
}  // namespace hca::blocks

template <>
struct hca::engine::Knobs<hca::blocks::ProtectionConfig> {
  static constexpr std::string_view block = "protection";
  static constexpr std::string_view sentence = "keys, rights, bounds and translation";
  using C = hca::blocks::ProtectionConfig;
  static constexpr auto rows = join_rows(
      hca::blocks::stage_rows<C>("from a look-up to its answer",
                                 "between two look-ups of one port"),
      make_rows(knob("page", &C::page, Unit::Bytes, 4096, 1 << 30, hca::blocks::kPowerOfTwo,
                     "page size of a region without a page list, as in the MTT")));
};

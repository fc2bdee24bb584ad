// SPDX-License-Identifier: Apache-2.0
// Partition keys (G18).
#pragma once
#include <array>
#include <optional>
#include <span>

#include "model/proto/types.h"

namespace hca::proto {

inline constexpr u16 kDefaultPkey = 0xFFFF;
inline constexpr u16 kPkeyFullMember = 0x8000;

constexpr u16 pkey_partition(u16 pkey) { return pkey & 0x7FFF; }
constexpr bool pkey_is_full(u16 pkey) { return pkey & kPkeyFullMember; }
constexpr bool pkey_is_valid(u16 pkey) { return pkey_partition(pkey) != 0; }

// G18.1: the same, valid partition, and at least one of the two is a full member.
constexpr bool pkey_match(u16 a, u16 b) {
  if (pkey_partition(a) != pkey_partition(b)) return false;
  return pkey_is_valid(a) && (pkey_is_full(a) || pkey_is_full(b));
}

// The first matching entry of a table (C9-42).
inline std::optional<u16> find_pkey(std::span<const u16> table, u16 pkey) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (pkey_match(pkey, table[i])) return u16(i);
  return std::nullopt;
}
}  // namespace hca::proto

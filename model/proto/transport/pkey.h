// SPDX-License-Identifier: Apache-2.0
// Partition keys (G18).
#pragma once
#include <array>
#include <optional>
#include <span>

#include "model/proto/mutant.h"

namespace hca::proto {

inline constexpr u16 kDefaultPkey = 0xFFFF;
inline constexpr u16 kPkeyFullMember = 0x8000;

constexpr u16 pkey_partition(u16 pkey) { return pkey & 0x7FFF; }
constexpr bool pkey_is_full(u16 pkey) { return pkey & kPkeyFullMember; }
constexpr bool pkey_is_valid(u16 pkey) {
  return pkey_partition(pkey) != 0 || constexpr_mutant<"pkey_zero_valid">();
}

// How many of two members are full ones.
inline constexpr std::array<std::string_view, 3> kPkeyMembers{"none full", "one full", "both full"};

// G18.1: one partition, a valid one, and at least one of the two is a full member.
constexpr bool pkey_match(u16 a, u16 b) {
  if (constexpr_mutant<"pkey_not_compared">()) return true;
  if (constexpr_mutant<"pkey_whole_compared">()) return a == b;
  if (constexpr_mutant<"pkey_default_limited">() && a != b && b == kDefaultPkey) return false;
  const unsigned full = pkey_is_full(a) + pkey_is_full(b);
  if (pkey_partition(a) != pkey_partition(b) && !constexpr_mutant<"pkey_partition_ignored">())
    return false;
  return pkey_is_valid(a) && (full != 0) != entry_is_wrong<"members", kPkeyMembers>(full);
}

// The first entry of a table that matches (C9-42).
inline std::optional<u16> find_pkey(std::span<const u16> table, u16 pkey) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (pkey_match(pkey, table[i])) return u16(i);
  return std::nullopt;
}
}  // namespace hca::proto

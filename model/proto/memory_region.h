// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "model/proto/commands.h"

namespace hca::proto {
// An MPT entry. A key is index (24 bits) and key byte (8 bits); the index finds the entry.
struct Region {
  u64 start = 0, bytes = 0;
  u64 physical = 0;  // of the first byte
  u32 pd = 0, key = 0;
  u8 access = 0;
  bool valid = false;      // false: the peer invalidated it
  bool allocated = false;  // registered, and not deregistered

  u64 translate(u64 va) const { return physical + (va - start); }
};

constexpr u32 key_index(u32 key) { return key >> 8; }

// G22.2, in this order; the first that fails is the internal cause. On the wire each is a remote
// access error.
enum class AccessFault : u8 { None, NoEntry, WrongKey, NotValid, WrongPd, NoRight, OutOfBounds };

constexpr AccessFault check_access(const Region* region, u32 key, u32 pd, u64 va, u64 bytes,
                                   u8 rights) {
  if (!region) return AccessFault::NoEntry;
  if (region->key != key) return AccessFault::WrongKey;
  if (!region->valid) return AccessFault::NotValid;
  if (region->pd != pd) return AccessFault::WrongPd;
  if ((region->access & rights) != rights) return AccessFault::NoRight;
  const u64 offset = va - region->start;
  const bool inside =
      va >= region->start && bytes <= region->bytes && offset <= region->bytes - bytes;
  return inside ? AccessFault::None : AccessFault::OutOfBounds;
}
// G22.2, G22.3: an access of no bytes names no memory.
constexpr bool key_allows(const Region* region, u32 key, u32 pd, u64 va, u64 bytes, u8 rights) {
  return !bytes || check_access(region, key, pd, va, bytes, rights) == AccessFault::None;
}
}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "model/proto/commands.h"
#include "model/proto/mutant.h"

namespace hca::proto {
// An MPT entry. A key is index (24 bits) and key byte (8 bits); the index finds the entry.
struct Region {
  u64 start = 0, bytes = 0;
  u64 physical = 0;  // of the first byte
  u32 pd = 0, key = 0;
  u8 access = 0;
  bool valid = false;      // false: the peer invalidated it
  bool allocated = false;  // registered, and not deregistered

  u64 translate(u64 va) const {
    if (mutant<"va_as_physical">()) return va;
    return physical + ((mutant<"translate_aligned">() ? va & ~u64{3} : va) - start);
  }
};

constexpr u32 key_index(u32 key) { return key >> 8; }

// G22.2, in this order; the first that fails is the internal cause. On the wire each is a remote
// access error.
enum class AccessFault : u8 { None, NoEntry, WrongKey, NotValid, WrongPd, NoRight, OutOfBounds };

constexpr bool keys_equal(u32 a, u32 b) {
  if (constexpr_mutant<"index_ignored">()) return u8(a) == u8(b);
  return constexpr_mutant<"key_byte_ignored">() ? key_index(a) == key_index(b) : a == b;
}

constexpr AccessFault check_access(const Region* region, u32 key, u32 pd, u64 va, u64 bytes,
                                   u8 rights) {
  if (!region) return AccessFault::NoEntry;
  if (!keys_equal(region->key, key)) return AccessFault::WrongKey;
  if (!region->valid) return AccessFault::NotValid;
  if (region->pd != pd && !constexpr_mutant<"pd_not_compared">()) return AccessFault::WrongPd;
  // 0xe: the remote rights.
  const bool allowed = constexpr_mutant<"rights_ored">() ? !rights || (region->access & 0xe)
                                                         : (region->access & rights) == rights;
  if (!allowed) return AccessFault::NoRight;
  if (constexpr_mutant<"unregistered_open">() ||
      (constexpr_mutant<"local_key_unchecked">() && !rights))
    return AccessFault::None;
  const u64 offset = va - region->start;
  const bool inside = va >= region->start && bytes <= region->bytes &&
                      offset <= region->bytes - bytes + constexpr_mutant<"bounds_end_off">();
  if (constexpr_mutant<"bounds_wrap">() && va >= region->start &&
      va + bytes <= region->start + region->bytes)
    return AccessFault::None;
  return inside ? AccessFault::None : AccessFault::OutOfBounds;
}
// G22.2, G22.3: an access of no bytes names no memory.
constexpr bool key_allows(const Region* region, u32 key, u32 pd, u64 va, u64 bytes, u8 rights) {
  return (!bytes && !constexpr_mutant<"zero_length_checked">()) ||
         check_access(region, key, pd, va, bytes, rights) == AccessFault::None;
}
}  // namespace hca::proto

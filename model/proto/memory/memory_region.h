// SPDX-License-Identifier: Apache-2.0
// The key table: regions, windows, and the conditions of an access by a key (10.6).
#pragma once
#include <algorithm>
#include <string_view>

#include "model/proto/interface/object_attributes.h"
#include "model/proto/memory/key.h"

namespace hca::proto {
inline constexpr u32 kAnyQp = ~u32{0};
// Names no region, but all memory by physical address; for privileged queue pairs (G22.4).
inline constexpr u32 kReservedLkey = 0;

// The origin of an access.
struct Accessor {
  u32 pd, qpn;
};

// An MPT entry: a region or a window. A key is index (24 bits) and key byte (8 bits); the index
// finds the entry. A bound window has the translation of its region.
struct alignas(64) Region {
  u64 start = 0, bytes = 0;
  u64 physical = 0;            // physical address of the byte at `origin`
  u64 origin = 0;              // first translated virtual address; modulo 2^64 if it lies before 0
  const u64* pages = nullptr;  // addresses of the pages, if it has a page list
  u32 pd = 0, key = 0;
  u32 qpn = kAnyQp;  // of a bound window of type 2: the only queue pair that may use it
  u32 links = 0;     // region: windows bound to it; bound window: key index of its region
  Rights access = 0;
  u8 log_page = 0;
  KeyState state = KeyState::Invalid;
  KeyKind kind = KeyKind::Region;

  bool exists() const { return state != KeyState::Invalid; }
  bool is_window() const { return kind != KeyKind::Region; }
  bool is_type_2() const { return kind == KeyKind::Window2A || kind == KeyKind::Window2B; }
  bool is_bound() const { return is_window() && state == KeyState::Valid && bytes; }
  // MR-5.
  u64 translate(u64 va) const {
    const u64 offset = va - origin;
    if (!pages) [[likely]]
      return physical + offset;
    return pages[offset >> log_page] + (offset & (page_bytes() - 1));
  }
  // The length of the physically contiguous part of `bytes` from `va` on.
  u32 contiguous(u64 va, u32 wanted) const {
    if (!pages) [[likely]]
      return wanted;
    return u32(std::min<u64>(wanted, page_bytes() - ((va - origin) & (page_bytes() - 1))));
  }

 private:
  u64 page_bytes() const { return u64{1} << log_page; }
};
static_assert(sizeof(Region) == 64);

// A page list: addresses in host memory that a command or WQE names.
struct PageList {
  u64 address = 0;
  u32 count = 0;  // 0: there is no list, or it is refused
};

inline constexpr u32 kPageAddressBytes = 8;

// The entry of an index outside the table.
inline constexpr Region kNoRegion{};

// G22.2, checked in this order; the first failure is the internal cause. On the wire each is a
// remote access error.
enum class AccessFault : u8 {
  None,
  NoEntry,
  WrongKey,
  NotValid,
  WrongPd,
  WrongQp,
  NoRight,
  OutOfBounds
};

constexpr bool keys_equal(u32 a, u32 b) { return a == b; }

constexpr AccessFault check_access(const Region* region, u32 key, const Accessor& who, u64 va,
                                   u64 bytes, Rights rights) {
  if (!region) return AccessFault::NoEntry;
  if (!keys_equal(region->key, key)) return AccessFault::WrongKey;
  if (region->state != KeyState::Valid) return AccessFault::NotValid;
  // MW-6; for 2A this is the QP's own PD anyway.
  if (region->pd != who.pd) return AccessFault::WrongPd;
  // MW-15, MW-16.
  if (region->qpn != kAnyQp && region->qpn != who.qpn) return AccessFault::WrongQp;
  const bool allowed = (region->access & rights) == rights;
  if (!allowed) return AccessFault::NoRight;
  const u64 offset = va - region->start;
  const bool inside =
      va >= region->start && bytes <= region->bytes && offset <= region->bytes - bytes;
  return inside ? AccessFault::None : AccessFault::OutOfBounds;
}
// A physically contiguous run of the bytes that a local or remote key names.
struct Run {
  u64 address;
  u32 bytes;
  bool there = true;  // false: the key was removed after the access was judged
};
inline Run run_of(const Region* region, u32 key, u64 va, u32 wanted) {
  const bool there = region && region->key == key && region->state == KeyState::Valid &&
                     va - region->start < region->bytes;
  if (!there) [[unlikely]]
    return {key == kReservedLkey ? va : 0, wanted, key == kReservedLkey};
  return {region->translate(va), region->contiguous(va, wanted)};
}

// G22.2, G22.3: an access of no bytes names no memory, unless it is to the whole region.
constexpr bool key_allows(const Region* region, u32 key, const Accessor& who, u64 va, u64 bytes,
                          Rights rights, bool whole = false) {
  return (!bytes && !whole) ||
         check_access(region, key, who, va, bytes, rights) == AccessFault::None;
}
}  // namespace hca::proto

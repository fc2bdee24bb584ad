// SPDX-License-Identifier: Apache-2.0
// The rights of a key or a queue pair as a table: one bit each, and its names.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {
using Rights = u16;
enum Access : Rights {
  kLocalWrite = 1 << 0,
  kRemoteWrite = 1 << 1,
  kRemoteRead = 1 << 2,
  kRemoteAtomic = 1 << 3,
  kFastRegister = 1 << 4,
  kBindWindow = 1 << 5,
  kZeroBased = 1 << 6,
  kLocalRead = 1 << 7,  // every region has this right (MR-10), no window; no command gives it
  kRemoteAtomicWrite = 1 << 8,
  kFlushGlobal = 1 << 9,
  kFlushPersistent = 1 << 10,
  kShared = 1 << 11,  // the memory belongs to several regions (INV-13); no command gives it
  kLocalAtomic = 1 << 12,
};

// The objects to which commands may give a right.
enum class GivenTo : u8 {
  Memory,      // regions
  Both,        // regions and queue pairs
  Everything,  // regions, queue pairs and windows
  Optional,    // the same, on a device with an operation that needs it: optional_rights()
};
struct RightRow {
  Rights right;
  std::string_view name;  // in a vector
  std::string_view word;  // in a recording; empty: none has it
  GivenTo given_to;
  bool changes;  // MR-11, MW-3: the memory that a peer changes is writable to its owner
  std::string_view meaning;
};
inline constexpr auto kRightRows = [] {
  using enum GivenTo;
  constexpr bool kYes = true, kNo = false;
  return std::array{
      // clang-format off
      //       right               name                   word   given to    changes meaning
      RightRow{kLocalWrite,        "local_write",         "LW",  Both,       kNo,  "the device may write data that the owner receives or reads"},
      RightRow{kRemoteWrite,       "remote_write",        "RW",  Everything, kYes, "a peer may WRITE"},
      RightRow{kRemoteRead,        "remote_read",         "RR",  Everything, kNo,  "a peer may READ"},
      RightRow{kRemoteAtomic,      "remote_atomic",       "RA",  Everything, kYes, "a peer may use ATOMICs"},
      RightRow{kFastRegister,      "fast_register",       "FR",  Memory,     kNo,  "made for fast registration: a peer may invalidate the key"},
      RightRow{kBindWindow,        "bind_window",         "MWB", Memory,     kNo,  "windows may be bound"},
      RightRow{kZeroBased,         "zero_based",          "",    Memory,     kNo,  "addresses count from 0 at Start (0 for a region); also for a window of type 2"},
      RightRow{kLocalAtomic,       "local_atomic",        "",    Memory,     kNo,  "ATOMICs of the owner (MR-13); no work request of this device is one"},
      RightRow{kRemoteAtomicWrite, "remote_atomic_write", "RAW", Optional,   kYes, "a peer may use ATOMIC WRITE"},
      RightRow{kFlushGlobal,       "flush_global",        "FG",  Optional,   kNo,  "a peer may FLUSH to global visibility"},
      RightRow{kFlushPersistent,   "flush_persistent",    "FP",  Optional,   kNo,  "a peer may FLUSH to persistence"},
      // clang-format on
  };
}();

namespace detail {
template <class Wanted>
constexpr Rights rights_of(Wanted wanted) {
  Rights rights = 0;
  for (const RightRow& row : kRightRows)
    if (wanted(row)) rights |= row.right;
  return rights;
}
}  // namespace detail
// Rights that every device has; optional_rights() are added to each of these sets.
inline constexpr Rights kAllAccess = detail::rights_of([](const RightRow& row) {
  return row.given_to == GivenTo::Both || row.given_to == GivenTo::Everything;
});
inline constexpr Rights kWindowAccess =
    detail::rights_of([](const RightRow& row) { return row.given_to == GivenTo::Everything; });
inline constexpr Rights kRegionAccess =
    detail::rights_of([](const RightRow& row) { return row.given_to != GivenTo::Optional; });
inline constexpr Rights kRemoteChanges =
    detail::rights_of([](const RightRow& row) { return row.changes; });

// Each bit belongs to one row at most.
static_assert([] {
  Rights seen = kLocalRead | kShared;
  for (const RightRow& row : kRightRows) {
    const bool one = row.right && !(row.right & (row.right - 1));
    if (!one || seen & row.right) return false;
    seen |= row.right;
  }
  return true;
}());
}  // namespace hca::proto

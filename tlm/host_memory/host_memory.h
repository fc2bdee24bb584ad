// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "model/proto/types.h"

namespace hca::tlm_ {
// A free list of zeroed pages, reused by later HostMemory objects: clearing a page is faster than
// getting one from the system. Used by one thread only; it outlives the memories.
class PageStore {
 public:
  PageStore() = default;
  PageStore(const PageStore&) = delete;
  ~PageStore();

 private:
  friend class HostMemory;
  static constexpr std::size_t kMost = 256;  // of each kind
  // Takes a zeroed page, from the system if none is kept. Pages given back must be zero again.
  static void* take(std::vector<void*>& kept);
  static void give(std::vector<void*>& kept, void* zeros);
  std::vector<void*> pages_, leaves_;
};

// The memory of a host: 2^48 bytes. Only pages with a non-zero byte written exist; all others read
// as zeros. Host software uses it directly, an HCA through MemoryTarget; both see the same bytes at
// once. It does not depend on time or SystemC.
class HostMemory {
 public:
  static constexpr u32 kPageBytes = 1 << 16;
  static constexpr u64 kBytes = u64{1} << 48;
  // Called for each write that touches a watched range, after its bytes are written.
  using Watcher = std::function<void(u64 address, u64 bytes)>;

  explicit HostMemory(PageStore* store = nullptr);
  HostMemory(const HostMemory&) = delete;
  ~HostMemory();

  static constexpr bool holds(u64 address, u64 bytes) {
    return address <= kBytes && bytes <= kBytes - address;
  }
  // All of [address, address + bytes) must lie inside; otherwise std::out_of_range.
  void read(u64 address, void* to, u64 bytes) const {
    if (const u8* in = at_hand(address, bytes)) [[likely]]
      return copy(static_cast<u8*>(to), in, bytes);
    read_pages(address, to, bytes);
  }
  void write(u64 address, const void* from, u64 bytes) {
    u8* const there = at_hand(address, bytes);
    if (!there) [[unlikely]]
      return write_pages(address, from, bytes);
    copy(there, static_cast<const u8*>(from), bytes);
    if (is_watched(address, bytes)) [[unlikely]]
      tell(address, bytes);
  }
  // Writes only the first bytes of a write of `bytes`: watchers are told of all of them.
  void write_first(u64 address, std::span<const u8> first, u64 bytes);
  void fill(u64 address, u8 value, u64 bytes);
  // A device that reads any of these bytes gets an error; the host's own software, and writes, do
  // not.
  void make_unreadable(u64 address, u64 bytes);
  bool is_readable(u64 address, u64 bytes) const {
    return unreadable_.empty() || !touches(unreadable_, address, bytes);
  }
  // A device that writes any of these bytes gets an error, and the write is lost.
  void make_unwritable(u64 address, u64 bytes);
  bool is_writable(u64 address, u64 bytes) const {
    return unwritable_.empty() || !touches(unwritable_, address, bytes);
  }
  // Fast path for callers that only copy: the address of these bytes if it is already known here
  // and no byte of the memory is unreadable (to read) or watched or unwritable (to write); otherwise nullptr.
  const u8* to_read(u64 address, u64 bytes) const {
    return unreadable_.empty() ? at_hand(address, bytes) : nullptr;
  }
  u8* to_write(u64 address, u64 bytes) {
    if (!unwritable_.empty()) [[unlikely]]
      return nullptr;
    return is_watched(address, bytes) ? nullptr : at_hand(address, bytes);
  }
  static void copy(u8* to, const u8* from, u64 bytes) {
    if (bytes > kPiece) [[unlikely]]
      return copy_pieces(to, from, bytes);
    std::memcpy(to, from, bytes);
  }
  template <class Bytes>
  void write(u64 address, const Bytes& from) {
    const std::span<const u8> all(from);
    write(address, all.data(), all.size());
  }
  // Direct access to the bytes that lie in one page, to compare or fill many. Writes through a span
  // do not notify watchers.
  std::span<const u8> view(u64 address, u64 bytes) const {
    if (const u8* in = at_hand(address, bytes)) [[likely]]
      return {in, bytes};
    return view_page(address, bytes);
  }
  std::span<u8> span(u64 address, u64 bytes);

  // Ranges may overlap; a watch is removed by its number.
  u32 watch(u64 address, u64 bytes, Watcher watcher);
  void unwatch(u32 number);

  u64 pages() const { return pages_; }

 private:
  // Bit 0 of an entry: watched. Pages are aligned, so the bit is free.
  static constexpr u64 kWatched = 1;
  static constexpr u64 kOffsetMask = kPageBytes - 1;
  static constexpr u32 kLeafEntries = 1 << 16;
  using Entry = u64;
  struct Watch {
    u64 begin, end;
    Watcher watcher;
    u32 number;
  };
  struct Known {
    u64 number = ~u64{0};
    Entry entry = 0;
  };
  // The address of bytes that all lie in a recently found page; otherwise nullptr.
  u8* at_hand(u64 address, u64 bytes) const {
    const u64 number = address / kPageBytes, offset = address & kOffsetMask;
    const Known& known = known_[number % known_.size()];
    if (known.number != number || bytes - 1 >= kPageBytes - offset) return nullptr;
    return reinterpret_cast<u8*>(known.entry & ~kWatched) + offset;
  }
  // True if some of them may be watched.
  bool is_watched(u64 address, u64 bytes) const {
    return address < watched_to_ && watched_from_ < address + bytes;
  }
  static constexpr u64 kPiece = 2048;
  static void copy_pieces(u8* to, const u8* from, u64 bytes);
  std::span<const u8> view_page(u64 address, u64 bytes) const;
  void read_pages(u64 address, void* to, u64 bytes) const;
  void write_pages(u64 address, const void* from, u64 bytes);
  void copy_to_pages(u64 address, const u8* in, u64 bytes);
  const u8* find(u64 address) const;  // nullptr: an untouched page
  bool look_up(u64 number, Known& known) const;
  Entry& entry(u64 address);
  void mark(Entry& entry, u64 address, Entry bits);
  void* new_page();
  Entry* new_leaf();
  u8* page(u64 address);  // creates it
  bool stays_untouched(u64 address, const u8* bytes, u64 count);
  void tell(u64 address, u64 bytes);
  using Ranges = std::vector<std::pair<u64, u64>>;  // from, end
  static bool touches(const Ranges& ranges, u64 address, u64 bytes);

  PageStore* const store_;
  std::vector<Entry*> leaves_;
  std::vector<u64> entries_;               // page numbers of entries other than 0
  mutable std::array<Known, 32> known_{};  // recently found pages
  std::vector<Watch> watches_;
  u64 watched_from_ = kBytes, watched_to_ = 0;  // contains every range that was ever watched
  Ranges unreadable_, unwritable_;
  u32 next_watch_ = 0;
  u64 pages_ = 0;
};
}  // namespace hca::tlm_

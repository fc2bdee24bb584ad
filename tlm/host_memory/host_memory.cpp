// SPDX-License-Identifier: Apache-2.0
#include "tlm/host_memory/host_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace hca::tlm_ {
namespace {
constexpr std::array<u8, HostMemory::kPageBytes> kZeros{};

[[noreturn, gnu::cold, gnu::noinline]] void refuse(u64 address, u64 bytes) {
  throw std::out_of_range(fmt::format("host memory: {} bytes at {:#x} reach beyond its {:#x} bytes",
                                      bytes, address, HostMemory::kBytes));
}
void check(u64 address, u64 bytes) {
  if (!HostMemory::holds(address, bytes)) [[unlikely]]
    refuse(address, bytes);
}
u64 left_in_page(u64 address) { return HostMemory::kPageBytes - address % HostMemory::kPageBytes; }
}  // namespace

PageStore::~PageStore() {
  for (void* page : pages_) std::free(page);
  for (void* leaf : leaves_) std::free(leaf);
}
void* PageStore::take(std::vector<void*>& kept) {
  if (kept.empty()) return nullptr;
  void* const zeros = kept.back();
  kept.pop_back();
  return zeros;
}
void PageStore::give(std::vector<void*>& kept, void* zeros) {
  if (kept.size() == kMost) return std::free(zeros);
  kept.push_back(zeros);
}

HostMemory::HostMemory(PageStore* store) : store_(store) {}
HostMemory::~HostMemory() {
  for (const u64 number : entries_) {
    const Entry found = std::exchange(leaves_[number / kLeafEntries][number % kLeafEntries], 0);
    void* const bytes = reinterpret_cast<void*>(found & ~kWatched);
    if (!store_)
      std::free(bytes);
    else if (bytes)
      PageStore::give(store_->pages_, std::memset(bytes, 0, kPageBytes));
  }
  for (Entry* leaf : leaves_)
    if (!store_)
      std::free(leaf);
    else if (leaf)
      PageStore::give(store_->leaves_, leaf);
}

void* HostMemory::new_page() {
  if (void* const kept = store_ ? PageStore::take(store_->pages_) : nullptr) return kept;
  // A payload of 4 KiB, aligned to it, lies in one page of the processor, whose prefetcher stops at
  // its end.
  void* const bytes = std::aligned_alloc(4096, kPageBytes);
  if (!bytes) throw std::bad_alloc();
  return std::memset(bytes, 0, kPageBytes);
}
HostMemory::Entry* HostMemory::new_leaf() {
  void* zeros = store_ ? PageStore::take(store_->leaves_) : nullptr;
  if (!zeros) zeros = std::calloc(kLeafEntries, sizeof(Entry));
  if (!zeros) throw std::bad_alloc();
  return static_cast<Entry*>(zeros);
}
void HostMemory::mark(Entry& entry, u64 address, Entry bits) {
  if (!entry) entries_.push_back(address / kPageBytes);
  entry |= bits;
}

inline const u8* HostMemory::find(u64 address) const {
  const u64 number = address / kPageBytes;
  Known& known = known_[number % known_.size()];
  if (number != known.number) [[unlikely]]
    if (!look_up(number, known)) return nullptr;
  return reinterpret_cast<const u8*>(known.entry & ~kWatched) + (address & kOffsetMask);
}

bool HostMemory::look_up(u64 number, Known& known) const {
  const u64 leaf = number / kLeafEntries;
  if (leaf >= leaves_.size() || !leaves_[leaf]) return false;
  const Entry found = leaves_[leaf][number % kLeafEntries];
  if (!(found & ~kWatched)) return false;
  known = {number, found};
  return true;
}

// A leaf is 512 KiB of address space; the kernel gives it memory where it is touched.
HostMemory::Entry& HostMemory::entry(u64 address) {
  const u64 number = address / kPageBytes, leaf = number / kLeafEntries;
  if (leaf >= leaves_.size()) leaves_.resize(leaf + 1);
  if (!leaves_[leaf]) leaves_[leaf] = new_leaf();
  return leaves_[leaf][number % kLeafEntries];
}

u8* HostMemory::page(u64 address) {
  if (const u8* found = find(address)) return const_cast<u8*>(found);
  Entry& made = entry(address);
  void* const bytes = new_page();
  mark(made, address, reinterpret_cast<Entry>(bytes));
  ++pages_;
  const u64 number = address / kPageBytes;
  known_[number % known_.size()] = {number, made};
  return static_cast<u8*>(bytes) + (address & kOffsetMask);
}

// Zeros written where no page exists create none: long messages of zeros take no memory.
bool HostMemory::stays_untouched(u64 address, const u8* bytes, u64 count) {
  return !(entry(address) & kWatched) && !std::memcmp(bytes, kZeros.data(), count);
}

// On processors that declare string instructions fast, glibc copies more than 2 KiB with one; if an
// end begins inside a cache line, that takes up to twice as long as the loads and stores for
// smaller copies.
[[gnu::hot, gnu::noinline]] void HostMemory::copy_pieces(u8* to, const u8* from, u64 bytes) {
  for (; bytes > kPiece; bytes -= kPiece, to += kPiece, from += kPiece)
    std::memcpy(to, from, kPiece);
  std::memcpy(to, from, bytes);
}

void HostMemory::read_pages(u64 address, void* to, u64 bytes) const {
  check(address, bytes);
  for (u8* out = static_cast<u8*>(to); bytes;) {
    const u64 part = std::min(bytes, left_in_page(address));
    const u8* in = find(address);
    copy(out, in ? in : kZeros.data(), part);
    address += part;
    out += part;
    bytes -= part;
  }
}

void HostMemory::write_pages(u64 address, const void* from, u64 bytes) {
  check(address, bytes);
  copy_to_pages(address, static_cast<const u8*>(from), bytes);
  if (is_watched(address, bytes)) [[unlikely]]
    tell(address, bytes);
}

void HostMemory::copy_to_pages(u64 address, const u8* in, u64 bytes) {
  while (bytes) {
    const u64 part = std::min(bytes, left_in_page(address));
    const u8* there = find(address);
    if (there || !stays_untouched(address, in, part))
      copy(there ? const_cast<u8*>(there) : page(address), in, part);
    address += part;
    in += part;
    bytes -= part;
  }
}

void HostMemory::write_first(u64 address, std::span<const u8> first, u64 bytes) {
  check(address, bytes);
  if (u8* const there = at_hand(address, first.size()))
    copy(there, first.data(), first.size());
  else
    copy_to_pages(address, first.data(), first.size());
  if (is_watched(address, bytes)) [[unlikely]]
    tell(address, bytes);
}

void HostMemory::fill(u64 address, u8 value, u64 bytes) {
  check(address, bytes);
  while (bytes) {
    const u64 part = std::min(bytes, left_in_page(address));
    if (value || find(address)) std::memset(page(address), value, part);
    address += part;
    bytes -= part;
  }
}

std::span<const u8> HostMemory::view_page(u64 address, u64 bytes) const {
  check(address, bytes);
  const u8* in = find(address);
  return {in ? in : kZeros.data(), std::min(bytes, left_in_page(address))};
}

std::span<u8> HostMemory::span(u64 address, u64 bytes) {
  check(address, bytes);
  return {page(address), std::min(bytes, left_in_page(address))};
}

u32 HostMemory::watch(u64 address, u64 bytes, Watcher watcher) {
  check(address, bytes);
  watches_.push_back({address, address + bytes, std::move(watcher), next_watch_});
  for (u64 at = address & ~kOffsetMask; at < address + bytes; at += kPageBytes)
    mark(entry(at), at, kWatched);
  known_ = {};
  watched_from_ = std::min(watched_from_, address);
  watched_to_ = std::max(watched_to_, address + bytes);
  return next_watch_++;
}

// The pages stay marked: a write there looks once at the list.
void HostMemory::unwatch(u32 number) {
  std::erase_if(watches_, [&](const Watch& w) { return w.number == number; });
}

void HostMemory::tell(u64 address, u64 bytes) {
  for (std::size_t i = 0; i < watches_.size(); ++i)
    if (address < watches_[i].end && watches_[i].begin < address + bytes)
      watches_[i].watcher(address, bytes);
}

void HostMemory::make_unreadable(u64 address, u64 bytes) {
  check(address, bytes);
  unreadable_.push_back({address, address + bytes});
}

void HostMemory::make_unwritable(u64 address, u64 bytes) {
  check(address, bytes);
  unwritable_.push_back({address, address + bytes});
}

bool HostMemory::touches(const Ranges& ranges, u64 address, u64 bytes) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
    return address < range.second && range.first < address + bytes;
  });
}
}  // namespace hca::tlm_

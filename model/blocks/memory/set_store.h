// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "model/engine/random.h"

namespace hca::blocks {
enum class Replacement : u8 { Lru, Fifo, Random };
inline constexpr std::array<std::string_view, 3> kReplacementNames{"lru", "fifo", "random"};

// The numbers that a set-associative cache holds. Number n belongs to set n modulo the sets.
class SetStore {
 public:
  static constexpr u32 kNone = ~u32{0};
  struct Slot {
    u64 number = 0;
    bool used = false, coming = false;  // coming: it is being read and occupies its place
    u64 stamp = 0;
  };
  // `ways` divides `entries`; 0 ways: one set. Without entries the store holds nothing.
  SetStore(u32 entries, u32 ways, Replacement policy)
      : slots_(entries), ways_(ways ? ways : entries), policy_(policy) {
    sets_ = ways_ ? entries / ways_ : 0;
  }

  bool is_empty() const { return slots_.empty(); }
  u32 size() const { return u32(slots_.size()); }
  Slot& operator[](u32 slot) { return slots_[slot]; }
  // The slot that holds a number or reserves it for a read; kNone: neither.
  u32 find(u64 number) {
    const u32 first = set_of(number);
    for (u32 slot = first; slot < first + ways_; ++slot)
      if (slots_[slot].used && slots_[slot].number == number) {
        if (policy_ == Replacement::Lru) slots_[slot].stamp = ++time_;
        return slot;
      }
    return kNone;
  }
  // The slot for a new number: an empty one of its set, or the policy's victim. kNone: all slots of
  // the set are being read.
  u32 choose(u64 number) {
    const u32 first = set_of(number);
    u32 chosen = kNone, free = 0;
    for (u32 slot = first; slot < first + ways_; ++slot) {
      if (!slots_[slot].used) return slot;
      if (slots_[slot].coming) continue;
      ++free;
      if (chosen == kNone || slots_[slot].stamp < slots_[chosen].stamp) chosen = slot;
    }
    return free > 1 && policy_ == Replacement::Random ? drawn(first, free) : chosen;
  }
  // A slot of the set whose number over(number) declares unneeded.
  template <class Over>
  u32 choose_over(u64 number, Over&& over) const {
    const u32 first = set_of(number);
    for (u32 slot = first; slot < first + ways_; ++slot)
      if (slots_[slot].used && !slots_[slot].coming && over(slots_[slot].number)) return slot;
    return kNone;
  }
  // `coming`: the entry is still being read.
  void put(u32 slot, u64 number, bool coming = false) {
    slots_[slot] = {number, true, coming, ++time_};
  }

 private:
  u32 set_of(u64 number) const { return u32(number % sets_) * ways_; }
  u32 drawn(u32 first, u32 free) {
    u64 left = random_.below(free);
    u32 slot = first;
    for (; slots_[slot].coming || left; ++slot) left -= !slots_[slot].coming;
    return slot;
  }

  std::vector<Slot> slots_;
  u32 ways_, sets_;
  Replacement policy_;
  engine::Random random_{0};
  u64 time_ = 0;
};
}  // namespace hca::blocks

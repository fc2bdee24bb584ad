// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <bit>
#include <queue>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::engine {
// Which blocks are due when: one 64-bit mask per cycle, one bit per block. Setting a bit twice is
// harmless, so wake-ups are never merged, moved or cancelled. Cycles beyond the horizon wait in a
// heap.
class Wheel {
 public:
  static constexpr unsigned kSlots = 1024;

  void set(u64 blocks, Cycle at, Cycle now) {
    if (at - now >= kSlots) [[unlikely]]
      return set_far(blocks, at);
    const unsigned slot = at % kSlots;
    due_[slot] |= blocks;
    busy_[slot / 64] |= u64{1} << slot % 64;
    words_ = u16(words_ | 1u << slot / 64);
  }

  // The first due cycle after `now`, kNever if none.
  Cycle next(Cycle now) const {
    const Cycle near = next_near(now + 1);
    return far_.empty() || near < far_.top().at ? near : far_.top().at;
  }

  // The blocks due at `at`; they are no longer due afterwards.
  u64 take(Cycle at) {
    const unsigned slot = at % kSlots;
    u64 blocks = std::exchange(due_[slot], 0);
    if (!(busy_[slot / 64] &= ~(u64{1} << slot % 64))) words_ = u16(words_ & ~(1u << slot / 64));
    for (; !far_.empty() && far_.top().at == at; far_.pop()) blocks |= far_.top().blocks;
    return blocks;
  }

 private:
  [[gnu::noinline]] void set_far(u64 blocks, Cycle at) { far_.push({at, blocks}); }
  struct Far {
    Cycle at;
    u64 blocks;
    bool operator<(const Far& other) const { return at > other.at; }
  };

  Cycle next_near(Cycle from) const {
    const unsigned slot = from % kSlots, word = slot / 64;
    if (const u64 bits = busy_[word] >> slot % 64) return from + unsigned(std::countr_zero(bits));
    const u16 later = std::rotr(words_, int(word + 1));
    if (!later) return kNever;
    const unsigned skip = unsigned(std::countr_zero(later));
    const u64 bits = busy_[(word + 1 + skip) % busy_.size()];
    return from + (64 - slot % 64) + 64 * skip + unsigned(std::countr_zero(bits));
  }

  std::array<u64, kSlots / 64> busy_{};  // one bit per cycle with due blocks
  u16 words_ = 0;                        // one bit per non-zero word of busy_
  std::array<u64, kSlots> due_{};
  std::priority_queue<Far> far_;
};
}  // namespace hca::engine

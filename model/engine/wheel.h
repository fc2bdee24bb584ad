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
  static constexpr unsigned kSlots = 256;

  void set(u64 blocks, Cycle at, Cycle now) {
    if (at - now >= kSlots) [[unlikely]]
      return set_far(blocks, at);
    const unsigned slot = at % kSlots;
    due_[slot] |= blocks;
    busy_[slot / 64] |= u64{1} << slot % 64;
  }

  // The first due cycle after `now`, kNever if none.
  Cycle next(Cycle now) const {
    const Cycle near = next_near(now + 1);
    return near < far_from_ ? near : far_from_;
  }

  // The blocks due at `at`; they are no longer due afterwards.
  u64 take(Cycle at) {
    const unsigned slot = at % kSlots;
    const u64 far = far_from_ == at ? take_far(at) : 0;
    const u64 near = due_[slot];
    if (!near) return far;
    due_[slot] = 0;
    busy_[slot / 64] &= ~(u64{1} << slot % 64);
    return near | far;
  }

 private:
  [[gnu::noinline]] void set_far(u64 blocks, Cycle at) {
    far_.push({at, blocks});
    far_from_ = far_.top().at;
  }
  [[gnu::noinline]] u64 take_far(Cycle at) {
    u64 blocks = 0;
    for (; !far_.empty() && far_.top().at == at; far_.pop()) blocks |= far_.top().blocks;
    far_from_ = far_.empty() ? kNever : far_.top().at;
    return blocks;
  }
  struct Far {
    Cycle at;
    u64 blocks;
    bool operator<(const Far& other) const { return at > other.at; }
  };

  Cycle next_near(Cycle from) const {
    const unsigned slot = from % kSlots, word = slot / 64;
    if (const u64 bits = busy_[word] >> slot % 64) return from + unsigned(std::countr_zero(bits));
    for (unsigned i = 1; i <= busy_.size(); ++i)
      if (const u64 bits = busy_[(word + i) % busy_.size()])
        return from + 64 * i - slot % 64 + unsigned(std::countr_zero(bits));
    return kNever;
  }

  std::array<u64, kSlots / 64> busy_{};  // one bit per cycle with due blocks
  std::array<u64, kSlots> due_{};
  std::priority_queue<Far> far_;
  Cycle far_from_ = kNever;  // of its first
};
}  // namespace hca::engine

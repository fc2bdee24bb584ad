// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <utility>
#include <vector>

#include "model/engine/cycle.h"

namespace hca::engine {
// The schedule of due blocks: one 64-bit mask per cycle, one bit per block. Setting a bit twice is
// harmless, so wake-ups are never merged, moved or cancelled. Cycles beyond the horizon wait in a
// heap until bring_near().
class Wheel {
 public:
  static constexpr unsigned kSlots = 256;

  // True for a later cycle within the horizon: use set_near(), else set_far(). A cycle before `now`
  // is invalid for both.
  static bool is_near(Cycle at, Cycle now) { return at - now - 1 < kSlots - 1; }
  void set_near(u64 blocks, Cycle at) {
    const unsigned slot = at % kSlots;
    due_[slot] |= blocks;
    busy_[slot / 64] |= u64{1} << slot % 64;
  }
  void set_far(u64 blocks, Cycle at) {
    far_.push({at, blocks});
    far_from_ = far_.top().at;
  }

  // The first due cycle after `now`, kNever if none; `now` may be in progress.
  Cycle next(Cycle now) const {
    Busy busy = busy_;
    const u64 word = busy[now % kSlots / 64];
    busy[now % kSlots / 64] = without(word, now);
    return std::min(next_near(busy, now, word), far_from_);
  }
  Cycle next_far() const { return far_from_; }
  // `at`: the next due cycle. Moves all wake-ups up to the returned cycle to the near part. Far
  // wake-ups that are set in `at` or later lie at or after that cycle.
  Cycle bring_near(Cycle at) {
    const Cycle end = at + kSlots - 1;
    if (far_from_ < end) [[unlikely]]
      take_far(end);
    return end;
  }
  // Takes the blocks due at `at`, whose far wake-ups are already near. Call leave_near() when the
  // wake-ups that they request have been set.
  u64 take_near(Cycle at) { return std::exchange(due_[at % kSlots], 0); }
  // Nothing is due in `at` any more. Returns the first later near due cycle, kNever if none.
  Cycle leave_near(Cycle at) {
    u64& word = busy_[at % kSlots / 64];
    const u64 before = word;
    word = without(before, at);
    return next_near(busy_, at, before);
  }

 private:
  struct Far {
    Cycle at;
    u64 blocks;
    bool operator<(const Far& other) const { return at > other.at; }
  };

  using Busy = std::array<u64, kSlots / 64>;  // one bit per cycle with due blocks
  static u64 without(u64 word, Cycle at) { return word & std::rotl(~u64{1}, int(at % 64)); }
  // Nothing is due in `now` any more. `word`: the word of `now`, with or without its bit. The next
  // 64 cycles are checked first.
  static Cycle next_near(const Busy& busy, Cycle now, u64 word) {
    const unsigned bit = now % 64;
    const u64 behind = busy[(now % kSlots / 64 + 1) % busy.size()];
    if (const u64 bits = word >> bit >> 1 | behind << (63 - bit)) [[likely]]
      return now + 1 + lowest_bit(bits);
    return next_in_words(busy, now);
  }
  // Nothing is due in the rest of the word of `now`.
  static Cycle next_in_words(const Busy& busy, Cycle now) {
    const Cycle from = now - now % 64;
    const unsigned word = now % kSlots / 64;
    for (unsigned i = 1; i <= busy.size(); ++i)
      if (const u64 bits = busy[(word + i) % busy.size()]) return from + 64 * i + lowest_bit(bits);
    return kNever;
  }
  [[gnu::cold, gnu::noinline]] void take_far(Cycle end) {
    for (; !far_.empty() && far_.top().at < end; far_.pop())
      set_near(far_.top().blocks, far_.top().at);
    far_from_ = far_.empty() ? kNever : far_.top().at;
  }

  Busy busy_{};
  Cycle far_from_ = kNever;  // of the first far wake-up
  std::array<u64, kSlots> due_{};
  std::priority_queue<Far> far_;
};
}  // namespace hca::engine

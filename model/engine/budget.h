// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "model/engine/domain.h"

namespace hca::engine {
// A counted resource with one taker (credits, tags, buffers). Returned units become usable in a
// later cycle; a refused taker is woken then. Units may hold bytes: with a bound of `bytes`, a unit
// may be taken while less than that is held, whatever the next one holds; a taker that says how
// much that is waits until all of it has room.
class Budget {
 public:
  static constexpr u64 kAnyBytes = u64(-1);
  explicit Budget(unsigned count, u64 bytes = kAnyBytes)
      : count_(count), free_(count), bytes_(bytes), later_(mask_ + 1u) {}
  // Copy only before connect(): afterwards the domain holds the budget's address.
  Budget(const Budget& other)
      : count_(other.count_), free_(other.free_), bytes_(other.bytes_), later_(other.later_) {
    if (other.taker_.domain) broken("copied after connect", other.taker_.name(), 0, other.name_);
  }
  Budget& operator=(const Budget&) = delete;
  void connect(Waker taker, const char* name = "budget") {
    if (!taker.domain || taker_.domain) broken("a budget has one taker", taker.name(), 0, name);
    taker_ = taker;
    name_ = name;
    taker.domain->watch(Watched{this, report, level, used, changes, keep_most, most});
    taker.domain->watch(Stalls{&stalled_, taker.block, 0, name_});
  }

  // `bytes`: that must have room.
  bool available(u32 bytes = 1) {
    for (; pending_ && later_[head_].at <= taker_.now(); --pending_, ++free_) {
      if (held_ < later_[head_].bytes) [[unlikely]]
        fail("more bytes given back than taken");
      held_ -= later_[head_].bytes;
      head_ = after(head_);
    }
    if (may_take(bytes)) return true;
    if (!pending_)
      wait();
    else if (later_[head_].at > stalled_until_) {  // otherwise the taker was notified before
      count_stall(taker_.now(), later_[head_].at);
      taker_.wake(later_[head_].at);
    }
    return false;
  }
  // `bytes`: what the unit holds.
  void take(u32 bytes = 0) { take_in_tick_of(taker_, bytes); }
  // The same in a tick of another block, for the taker.
  void take_in_tick_of(const Waker& block, u32 bytes) {
    if (!may_take() && !available()) [[unlikely]]
      fail("took a unit that was not free");
    --free_;
    held_ += bytes;
    if (free_ < note_below_) [[unlikely]]
      note_most();
    block.acted();
  }
  // Returns a unit that is usable from cycle `at` on, a later one, with the bytes that it holds.
  void give(Cycle at, u32 bytes = 0) {
    if (at <= taker_.now()) [[unlikely]]
      fail("given back for a cycle that has begun");
    if (free_ + pending_ == count_) [[unlikely]]
      fail("more given back than taken");
    unsigned place = tail_;
    if (pending_ && later_[before(tail_)].at > at) [[unlikely]]
      place = make_place(at);
    later_[place] = {at, bytes};
    tail_ = after(tail_);
    ++pending_;
    if (waits_since_ == kNever) return;
    count_stall(waits_since_, at);
    waits_since_ = kNever;
    taker_.wake_from_outside(at);
  }
  unsigned count() const { return count_; }

 private:
  struct Later {
    Cycle at = 0;
    u32 bytes = 0;
  };
  bool may_take(u32 bytes = 1) const { return free_ && bytes <= bytes_ - std::min(held_, bytes_); }
  unsigned after(unsigned i) const { return (i + 1) & mask_; }
  unsigned before(unsigned i) const { return (i - 1) & mask_; }
  // Makes a place before units that become usable later. A taker that waits for those may continue
  // earlier.
  [[gnu::cold, gnu::noinline]] unsigned make_place(Cycle at) {
    unsigned place = tail_;
    for (; place != head_ && later_[before(place)].at > at; place = before(place))
      later_[place] = later_[before(place)];
    taker_.wake_from_outside(at);
    return place;
  }
  void wait() {
    if (waits_since_ == kNever) waits_since_ = taker_.now();
  }
  // The taker was refused in cycle `since` and gets a unit in `at`.
  void count_stall(Cycle since, Cycle at) {
    since = std::max(since, stalled_until_);
    if (at > since) {
      stalled_ += at - since;
      stalled_until_ = at;
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail(const char* what) const {
    broken(what, taker_.name(), taker_.now(), name_);
  }
  static Level level(const void* object) {
    const Budget& b = *static_cast<const Budget*>(object);
    return {b.name_, b.taker_.block, used(object), b.count()};
  }
  static unsigned used(const void* object) {
    const Budget& b = *static_cast<const Budget*>(object);
    unsigned free = b.free_;  // including units that have become usable
    for (unsigned i = 0, at = b.head_; i < b.pending_; ++i, at = b.after(at))
      free += b.later_[at].at <= b.taker_.now();
    return b.count() - free;
  }
  // In a cycle units are only taken: those that come back count from a later one on. So the level
  // after a take is at most that after the cycle.
  [[gnu::cold, gnu::noinline]] void note_most() {
    most_ = std::max(most_, used(this));
    note_below_ = count_ - most_;
  }
  static void keep_most(void* object, unsigned least) {
    Budget& b = *static_cast<Budget*>(object);
    b.most_ = least == kNoMost ? 0 : least, b.note_below_ = 0;
    if (least != kNoMost) b.note_most();
  }
  static unsigned most(const void* object) { return static_cast<const Budget*>(object)->most_; }
  static void changes(const void* object, Cycle from, Cycle to, std::vector<LevelChange>& list) {
    const Budget& b = *static_cast<const Budget*>(object);
    for (unsigned i = 0, at = b.head_; i < b.pending_; ++i, at = b.after(at))
      if (b.later_[at].at > from && b.later_[at].at < to) list.push_back({b.later_[at].at, -1});
  }
  static void report(const void* object, std::vector<Wait>& waits) {
    const Budget& b = *static_cast<const Budget*>(object);
    if (b.waits_since_ != kNever)
      waits.push_back(
          {Wait::For::Budget, b.name_, b.waits_since_, b.taker_.block, 0, b.free_, b.count()});
  }

  Waker taker_;
  unsigned count_, free_, head_ = 0, tail_ = 0, pending_ = 0;
  u64 bytes_, held_ = 0;     // the bound; of taken units
  unsigned note_below_ = 0;  // a take that leaves less free may bring a new most; 0: none does
  unsigned most_ = 0;
  unsigned mask_ = std::bit_ceil(std::max(count_, 1u)) - 1;
  Cycle waits_since_ = kNever;  // since when the taker waits for a give(); kNever: it does not
  std::vector<Later> later_;    // at least as many as there are units, a power of two
  u64 stalled_ = 0;             // cycles
  Cycle stalled_until_ = 0;
  const char* name_ = "budget";
};
}  // namespace hca::engine

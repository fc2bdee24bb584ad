// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <memory>

#include "model/engine/domain.h"

namespace hca::engine {
// A link between two blocks of a domain, registered both ways, owned by its reader. An item pushed
// in cycle n is seen from n + latency on; room made by a pop in cycle n is seen from n + latency
// on. Each slot stores that cycle, which replaces a commit phase. Latency k with depth 2k equals a
// row of k registered stages without contention.
//
// The grant rule (`valid`, `ready`, beats on pins) in terms of these calls:
//  - can_push() is `ready`. Once true it stays true until the writer's next push: only a start ends
//    a grant.
//  - A packet is one item. push(item, beats, extra) in cycle n is a start: on pins its first beat
//    appears at the reader in cycle n + latency + extra and its last one beats - 1 later, without a
//    gap. No other packet starts before n + beats, so can_push() is false until then. Room is
//    counted in whole packets: one slot for any number of beats.
//  - The reader sees the item with its first beat. Results that need the whole packet (a verdict)
//    come beats - 1 cycles later: the reader counts them itself, or the writer adds them to
//    `extra`.
//  - `extra` is latency of this item alone (a stage before the link). It may vary, but no item may
//    be seen before an earlier one: an always-on check.
//  - pop(interval) and hold_until() pace the reader and never change the grant that the writer
//    holds.
template <class T, unsigned kCapacity = 2>
class Link {
  static_assert(std::has_single_bit(kCapacity));

 public:
  explicit Link(unsigned depth = kCapacity, Cycle latency = 1)
      : latency_(latency), mask_(mask_of(depth)), depth_(depth) {
    if (!depth || depth > kCapacity || !latency) broken("bad link depth or latency", "link", 0);
    slots_ = front_ = own_.data();
  }
  Link(const Link&) = delete;
  // The name outlives the link.
  void connect(Waker writer, Waker reader, const char* name = "link") {
    if (!writer.domain || writer.domain != reader.domain)
      broken("a link may not leave its domain", writer.name(), 0, name);
    if (domain_) broken("a link has one writer", writer.name(), 0, name);
    domain_ = writer.domain;
    writer_ = writer.block;
    reader_ = reader.block;
    name_ = name;
    domain_->watch(Watched{this, report, level, used, nullptr, keep_most, most});
    domain_->watch(Stalls{&stalled_, writer_, reader_, name_});
  }
  // Each push sets these bits for the reader, which clears them when it finds the link empty. So a
  // reader with many links only looks at those with items.
  void mark(u32& marks, u32 bits) {
    marks_ = &marks;
    mark_ = bits;
  }
  // Increases the room to this many items, if it is less; call it before the first item. An item in
  // flight occupies its slot, so a long latency needs more slots.
  void deepen(unsigned depth) {
    if (tail_) broken("a link in use is not made deeper", "link", 0, name_);
    if (depth <= depth_) return;
    depth_ = depth;
    mask_ = mask_of(depth);
    if (depth <= kCapacity) return;
    more_ = std::make_unique<Slot[]>(mask_ + 1);
    slots_ = front_ = more_.get();
  }
  const char* name() const { return name_; }
  unsigned depth() const { return depth_; }
  Cycle latency() const { return latency_; }

  // Writer: true if a push is possible. A refusal is a subscription: the writer is woken when the
  // answer can change.
  bool can_push() {
    if (free_from_ <= domain_->now()) [[likely]]
      return true;
    wake_when_free();
    return false;
  }
  // Writer: wakes this block when another push may be possible.
  void wake_when_free() {
    if (free_from_ == kNever) return wait_for_room();
    if (free_from_ > busy_until_) [[unlikely]]
      count_stall(domain_->now());
    domain_->wake(writer_, std::max(free_from_, domain_->now() + 1));
  }
  template <class U = T>
  void push(U&& item, Cycle beats = 1, Cycle extra_latency = 0) {
    start(beats, extra_latency) = std::forward<U>(item);
  }
  // The same for an item that the writer fills in place, completely and in this cycle: a large item
  // is written once, field by field, and never copied out of a half-written cache line.
  T& start(Cycle beats = 1, Cycle extra_latency = 0) {
    const Cycle now = domain_->now(), from = now + latency_ + extra_latency;
    if (free_from_ > now) [[unlikely]]
      fail("push without room", writer_);
    if (last_from_ > from) [[unlikely]]
      fail("an item overtakes an earlier one", writer_);
    last_from_ = from;
    if (tail_ - head_ >= note_from_) [[unlikely]]
      note_rise(now);
    if (tail_ == head_) show(from);
    Slot& filled = slot(tail_);
    filled.from = from;
    if (mark_) *marks_ |= mark_;
    busy_until_ = now + beats;
    free_from_ =
        ++tail_ - head_ == depth_ ? kNever : std::max(busy_until_, slot(tail_ - depth_).from);
    domain_->acted(writer_);
    return filled.item;
  }

  // Reader: true if an item can be popped. The reader is woken when this becomes true, and again
  // after each pop that leaves an item.
  bool can_pop() const { return seen_from_ <= domain_->now(); }
  bool empty() const { return head_ == tail_; }
  // The items pushed and popped so far, modulo 2^32.
  u32 pushed() const { return u32(tail_); }
  u32 popped() const { return u32(head_); }
  const T& front() const { return front_->item; }
  // Since when the first item could be popped, ignoring pop(interval) and hold_until(); kNever: the
  // link is empty.
  Cycle front_from() const { return empty() ? kNever : front_->from; }
  // `interval`: cycles until the reader accepts the next item of this link, at least 1.
  T pop(Cycle interval = 1) {
    Slot& popped = *front_;
    drop(interval);
    return std::move(popped.item);
  }
  // pop() for an item that was read in place.
  void drop(Cycle interval = 1) {
    const Cycle now = domain_->now();
    if (seen_from_ > now) [[unlikely]]
      fail("pop of nothing", reader_);
    const Cycle room_from = front_->from = now + latency_;
    front_ = &slot(++head_);
    if (free_from_ == kNever) free_one(room_from);
    domain_->acted(reader_);
    hold_until(now + interval);
  }
  // Reader: hides all items of this link before cycle `at` (for inputs that share one rate).
  void hold_until(Cycle at) {
    held_until_ = at;
    if (head_ == tail_)
      seen_from_ = kNever;
    else
      show(front_->from);
  }

 private:
  struct Held {
    Cycle from = 0;  // holds an item: visible from; empty: free from
    T item{};
  };
  // A power of two of bytes, if that is at most a cache line: indexing is a shift.
  static constexpr std::size_t kSlotBytes = std::bit_ceil(sizeof(Held));
  struct alignas(kSlotBytes > 64 ? alignof(Held) : kSlotBytes) Slot : Held {};
  Slot& slot(unsigned i) { return slots_[i & mask_]; }
  // Only as many slots as the depth needs are used in rotation, so they stay in the cache.
  static unsigned mask_of(unsigned depth) { return std::bit_ceil(depth) - 1; }
  void show(Cycle from) {
    seen_from_ = std::max(from, held_until_);
    domain_->wake(reader_, seen_from_);
  }
  void wait_for_room() {
    if (waits_since_ == kNever) waits_since_ = domain_->now();
  }
  void free_one(Cycle from) {
    free_from_ = std::max(busy_until_, from);
    if (waits_since_ == kNever) return;
    count_stall(waits_since_);
    waits_since_ = kNever;
    domain_->wake(writer_, free_from_);
  }
  // The writer was refused in cycle `since`, not because of its own beats, and has room from
  // free_from_ on. Called by whichever side acts first.
  void count_stall(Cycle since) {
    since = std::max({since, busy_until_, stalled_until_});
    if (free_from_ > since) {
      stalled_ += free_from_ - since;
      stalled_until_ = free_from_;
    }
  }
  [[noreturn, gnu::cold, gnu::noinline]] void fail(const char* what, u64 block) const {
    broken(what, domain_->name_of(block), domain_->now(), name_);
  }
  static Level level(const void* object) {
    const Link& l = *static_cast<const Link*>(object);
    return {l.name_, l.reader_, used(object), l.depth_};
  }
  static unsigned used(const void* object) {
    const Link& l = *static_cast<const Link*>(object);
    return l.tail_ - l.head_;
  }
  // The reader may pop in the cycle of a push, before it or after it. So a push that may bring a
  // new most is judged later: at the next push, before that uses a slot again, or when it is asked
  // for. Until then each push comes here.
  [[gnu::cold, gnu::noinline]] void note_rise(Cycle now) {
    if (rise_.level && rise_.at != now) most_ = most_now(), rise_.level = 0;
    if (rise_.level)
      ++rise_.level;
    else if (tail_ - head_ >= most_)
      rise_ = {now, head_, tail_ - head_ + 1};
    note_from_ = rise_.level ? 0 : most_ == depth_ ? kNoMost : most_;
  }
  unsigned most_now() const {
    unsigned level = rise_.level;
    // A slot that was popped in that cycle is free a latency later.
    for (unsigned i = rise_.head; level && i != head_; ++i)
      level -= slots_[i & mask_].from == rise_.at + latency_;
    return std::max(most_, level);
  }
  static void keep_most(void* object, unsigned least) {
    Link& l = *static_cast<Link*>(object);
    l.rise_.level = 0;
    l.most_ = least == kNoMost ? least : std::max(least, l.tail_ - l.head_);
    l.note_from_ = l.most_ == l.depth_ ? kNoMost : l.most_;
  }
  static unsigned most(const void* object) { return static_cast<const Link*>(object)->most_now(); }
  static void report(const void* object, std::vector<Wait>& waits) {
    const Link& l = *static_cast<const Link*>(object);
    const unsigned items = l.tail_ - l.head_;
    if (items && l.seen_from_ <= l.domain_->now())
      waits.push_back(
          {Wait::For::Reader, l.name_, l.seen_from_, l.reader_, l.writer_, items, l.depth_});
    if (l.waits_since_ != kNever)
      waits.push_back(
          {Wait::For::Room, l.name_, l.waits_since_, l.writer_, l.reader_, items, l.depth_});
  }

  // The members that each push and pop needs lie in two cache lines.
  alignas(64) Domain* domain_ = nullptr;
  u64 reader_ = 0, writer_ = 0;
  Cycle seen_from_ = kNever, held_until_ = 0, free_from_ = 0, busy_until_ = 0;
  unsigned head_ = 0, tail_ = 0;   // counts of pops and pushes
  Slot* slots_ = nullptr;          // own_, or more_
  Slot* front_ = nullptr;          // the first item's
  Cycle latency_, last_from_ = 0;  // last_from_: when the last pushed item becomes visible
  u32* marks_ = nullptr;
  u32 mark_ = 0;
  unsigned mask_, depth_;
  unsigned note_from_ = kNoMost;  // a push on so many items may bring a new most
  unsigned most_ = kNoMost;
  Cycle waits_since_ = kNever;  // since when the writer waits for a pop; kNever: it does not
  u64 stalled_ = 0;             // cycles
  Cycle stalled_until_ = 0;
  struct {
    Cycle at;
    unsigned head, level;  // level 0: none
  } rise_{};               // the last push that may bring a new most
  std::array<Slot, kCapacity> own_{};
  std::unique_ptr<Slot[]> more_;
  const char* name_ = "link";
};
}  // namespace hca::engine

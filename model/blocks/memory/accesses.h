// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/engine/link.h"

namespace hca::blocks {
// Counts accesses to host memory that were judged and are in flight, by era. An access begins when
// its key, queue or queue pair allows it, and ends when its last byte has moved. The removal of a
// key, a queue or a queue pair closes the era. It is reported only when all accesses of this era
// and earlier ones have ended (MW-20, MR-9, T13), because the receiver of the report may reuse the
// memory.
//
// Registered like a link: a waiting block sees an end of cycle n from n + 1 on.
//
// A READ or ATOMIC that was judged, and is answered packet by packet as the wire has room, is
// counted by its key instead, until it is complete.
class Accesses {
 public:
  using Era = u32;

  Era begin() {
    ++open_[newest_ % kEras];
    return newest_;
  }
  void end(Era era) {
    if (--open_[era % kEras] == 0 && era != newest_) [[unlikely]]
      advance();
  }
  // False: too many eras have not drained, so no other one can be closed. `waiting` is woken later.
  bool can_close() const { return newest_ - oldest_ + 1 < kEras; }
  // Closes the current era and returns it. Later accesses belong to the next era.
  Era close() {
    const Era closed = newest_++;
    advance();
    return closed;
  }
  bool drained(Era era) const { return s32(oldest_ - era) > 0; }
  // The same for a caller that has waited since an earlier cycle.
  bool seen_drained(Era era) const {
    return s32((advanced_ < waiting.now() ? oldest_ : before_) - era) > 0;
  }

  // Counts READs and ATOMICs by the key of this index.
  void begin_read(u32 index) {
    if (index >= reads_.size()) reads_.resize(index + 1);
    ++reads_[index].count;
  }
  void end_read(u32 index) {
    Reads& reads = reads_[index];
    if (--reads.count || !watched_) [[likely]]
      return;
    reads.ended = waiting.now();
    waiting.wake(reads.ended + 1);
  }
  bool has_reads(u32 index) const { return index < reads_.size() && reads_[index].count; }
  bool seen_reads(u32 index) const {
    return has_reads(index) || (index < reads_.size() && reads_[index].ended == waiting.now());
  }
  // Sets whether `waiting` is woken when the last READ of a key ends.
  void watch_reads(bool watched) { watched_ = watched; }

  engine::Waker waiting;  // woken when an era has drained

 private:
  static constexpr u32 kEras = 64;

  [[gnu::cold]] void advance() {
    const engine::Cycle now = waiting.now();
    const Era before = oldest_;
    while (oldest_ != newest_ && !open_[oldest_ % kEras]) ++oldest_;
    if (oldest_ == before) return;
    if (advanced_ != now) {
      before_ = before;
      advanced_ = now;
    }
    waiting.wake(now + 1);
  }
  struct Reads {
    u32 count = 0;
    engine::Cycle ended = 0;  // cycle of the latest end, while watched
  };
  Era oldest_ = 0, newest_ = 0;
  Era before_ = 0;  // oldest_ before cycle advanced_
  engine::Cycle advanced_ = 0;
  std::array<u32, kEras> open_{};  // accesses that have not ended
  std::vector<Reads> reads_;       // by key index
  bool watched_ = false;
};

// A link whose items are accesses from the cycle of their push on: T has an `era`. The reader of
// the link ends them.
template <class T, unsigned kCapacity>
class AccessLink : public engine::Link<T, kCapacity> {
  using Base = engine::Link<T, kCapacity>;

 public:
  using Base::Base;
  Accesses* accesses = nullptr;  // nullptr: accesses are not counted

  T& start(engine::Cycle beats = 1, engine::Cycle extra_latency = 0) {
    T& item = Base::start(beats, extra_latency);
    if (accesses) [[likely]]
      item.era = accesses->begin();
    return item;
  }
  void push(const T& item, engine::Cycle beats = 1, engine::Cycle extra_latency = 0) {
    T& pushed = Base::start(beats, extra_latency);
    pushed = item;
    if (accesses) [[likely]]
      pushed.era = accesses->begin();
  }
};
}  // namespace hca::blocks

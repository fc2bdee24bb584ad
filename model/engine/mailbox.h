// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "model/engine/domain.h"

namespace hca::engine {
// The receiving end of a wire between domains. Items are ordered by (cycle, source), independent of
// the order of delivery, so neither threads nor the quantum change the result. The sender's latency
// keeps each arrival in the reader's future.
template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  void connect(Waker reader, const char* name = "mailbox") {
    if (!reader.domain || reader_.domain)
      broken("a mailbox has one reader", reader.name(), 0, name);
    reader_ = reader;
    name_ = name;
    reader.domain->watch(Watched{this, report, level, used, changes, keep_most, most});
  }
  // Called from outside, for a later cycle of the reader.
  void deliver(Cycle at, u32 source, T item) {
    if (at <= reader_.now()) [[unlikely]]
      broken("mail for a cycle that has begun", reader_.name(), reader_.now(), name_);
    if (tail_ - head_ > mask_) [[unlikely]]
      grow();
    Mail& mail = slot(tail_++);  // filled in place: narrow stores, no wide load after them
    mail.at = at;
    mail.source = source;
    mail.item = std::move(item);
    for (u32 i = tail_ - 1; i != head_ && slot(i).before(slot(i - 1)); --i)
      std::swap(slot(i), slot(i - 1));
    if (slot(head_).at != at) return;
    seen_from_ = std::max(at, held_until_);
    reader_.wake_from_outside(seen_from_);
  }
  bool can_pop() const { return seen_from_ <= reader_.now(); }
  const T& front() const { return slot(head_).item; }
  // `interval`: cycles until the reader accepts the next item, at least 1.
  T pop(Cycle interval = 1) {
    if (!can_pop()) [[unlikely]]
      broken("pop of nothing", reader_.name(), reader_.now(), name_);
    if (tail_ - head_ > most_ && slot(head_ + most_).at < reader_.now()) [[unlikely]]
      note_most();
    T item = std::move(slot(head_++).item);
    held_until_ = reader_.now() + interval;
    reader_.acted();
    if (head_ == tail_) {
      seen_from_ = kNever;
    } else {
      seen_from_ = std::max(slot(head_).at, held_until_);
      reader_.wake(seen_from_);
    }
    return item;
  }

 private:
  struct Mail {
    Cycle at = 0;
    u32 source = 0;
    T item{};
    bool before(const Mail& o) const { return at < o.at || (at == o.at && source < o.source); }
  };
  Mail& slot(u32 i) { return mail_[i & mask_]; }
  const Mail& slot(u32 i) const { return mail_[i & mask_]; }
  [[gnu::cold, gnu::noinline]] void grow() {
    std::rotate(mail_.begin(), mail_.begin() + (head_ & mask_), mail_.end());
    head_ = 0;
    tail_ = u32(mail_.size());
    mail_.resize(mail_.size() * 2);
    mask_ = u32(mail_.size()) - 1;
  }
  static Level level(const void* object) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    return {m.name_, m.reader_.block, used(object), 0};
  }
  static unsigned used(const void* object) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    unsigned due = 0;
    for (u32 i = m.head_; i != m.tail_ && m.slot(i).at <= m.reader_.now(); ++i) ++due;
    return due;
  }
  // The level rises by time, until a pop: then it is that after the cycle before. In this one
  // another item may come due, beside the one that goes.
  [[gnu::cold, gnu::noinline]] void note_most() {
    while (tail_ - head_ > most_ && slot(head_ + most_).at < reader_.now()) ++most_;
  }
  static void keep_most(void* object, unsigned least) {
    static_cast<Mailbox*>(object)->most_ = least == kNoMost ? least : std::max(least, used(object));
  }
  static unsigned most(const void* object) {
    return std::max(static_cast<const Mailbox*>(object)->most_, used(object));
  }
  static void changes(const void* object, Cycle from, Cycle to, std::vector<LevelChange>& list) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    for (u32 i = m.head_; i != m.tail_ && m.slot(i).at < to; ++i)
      if (m.slot(i).at > from) list.push_back({m.slot(i).at, 1});
  }
  static void report(const void* object, std::vector<Wait>& waits) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    const u32 items = m.tail_ - m.head_;
    if (m.can_pop())
      waits.push_back({Wait::For::Mail, m.name_, m.seen_from_, m.reader_.block, 0, items, items});
  }

  static constexpr u32 kFirstSlots = 16;  // doubled whenever there are too few

  Waker reader_;
  std::vector<Mail> mail_ = std::vector<Mail>(kFirstSlots);
  u32 mask_ = kFirstSlots - 1;
  u32 head_ = 0, tail_ = 0;  // counts of items read and delivered
  Cycle held_until_ = 0;
  Cycle seen_from_ = kNever;  // of the first item; kNever: empty
  unsigned most_ = kNoMost;
  const char* name_ = "mailbox";
};
}  // namespace hca::engine

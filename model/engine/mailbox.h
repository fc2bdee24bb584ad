// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "model/engine/domain.h"

namespace hca::engine {
// The far end of a wire between domains. The order is (cycle, source), whatever the order of
// delivery, so neither threads nor the size of the quantum can be seen. The sender's latency keeps
// each arrival in the reader's future.
template <class T>
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  void connect(Waker reader, const char* name = "mailbox") {
    if (!reader.domain || reader_.domain)
      broken("a mailbox has one reader", reader.name(), 0, name);
    reader_ = reader, name_ = name;
    reader.domain->watch({this, report, level, changes});
  }
  // From outside, for a later cycle of the reader.
  void deliver(Cycle at, u32 source, T item) {
    if (at <= reader_.now()) [[unlikely]]
      broken("mail for a cycle that has begun", reader_.name(), reader_.now(), name_);
    if (head_ > 256 && head_ * 2 > mail_.size()) forget_read();
    Mail& mail = mail_.emplace_back();  // filled in place: narrow stores, no wide load behind them
    mail.at = at, mail.source = source, mail.item = std::move(item);
    for (std::size_t i = mail_.size() - 1; i > head_ && mail_[i].before(mail_[i - 1]); --i)
      std::swap(mail_[i], mail_[i - 1]);
    if (mail_[head_].at == at) reader_.wake_from_outside(std::max(at, held_until_));
  }
  bool can_pop() const {
    return head_ < mail_.size() && std::max(mail_[head_].at, held_until_) <= reader_.now();
  }
  const T& front() const { return mail_[head_].item; }
  // `interval`: cycles until the reader accepts the next item, at least 1.
  T pop(Cycle interval = 1) {
    if (!can_pop()) [[unlikely]]
      broken("pop of nothing", reader_.name(), reader_.now(), name_);
    T item = std::move(mail_[head_++].item);
    held_until_ = reader_.now() + interval;
    reader_.acted();
    if (head_ < mail_.size()) reader_.wake(std::max(mail_[head_].at, held_until_));
    return item;
  }

 private:
  struct Mail {
    Cycle at = 0;
    u32 source = 0;
    T item{};
    bool before(const Mail& o) const { return at < o.at || (at == o.at && source < o.source); }
  };
  void forget_read() {
    mail_.erase(mail_.begin(), mail_.begin() + long(head_));
    head_ = 0;
  }
  static Level level(const void* object) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    unsigned due = 0;
    for (std::size_t i = m.head_; i < m.mail_.size() && m.mail_[i].at <= m.reader_.now(); ++i)
      ++due;
    return {m.name_, m.reader_.block, due, 0};
  }
  static void changes(const void* object, Cycle from, Cycle to, std::vector<LevelChange>& list) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    for (std::size_t i = m.head_; i < m.mail_.size() && m.mail_[i].at < to; ++i)
      if (m.mail_[i].at > from) list.push_back({m.mail_[i].at, 1});
  }
  static void report(const void* object, std::vector<Wait>& waits) {
    const Mailbox& m = *static_cast<const Mailbox*>(object);
    const unsigned items = unsigned(m.mail_.size() - m.head_);
    if (m.can_pop())
      waits.push_back({Wait::For::Mail, m.name_, std::max(m.mail_[m.head_].at, m.held_until_),
                       m.reader_.block, 0, items, items});
  }

  Waker reader_;
  std::vector<Mail> mail_;
  std::size_t head_ = 0;
  Cycle held_until_ = 0;
  const char* name_ = "mailbox";
};
}  // namespace hca::engine

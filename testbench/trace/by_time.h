// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// Items between two calls of hand_on_until().
inline constexpr std::size_t kHandOnEach = 4096;

// Sorts items of several sources by time. They come in any order, but a chip runs ahead of the
// kernel: an item waits until no earlier one can come. At equal times the smaller `rank` comes
// first, so that the order does not depend on the order of execution; at equal ranks the first
// added.
template <class Item>
class ByTime {
 public:
  using Sink = std::function<void(u64 picoseconds, const Item& item)>;
  explicit ByTime(Sink sink) : sink_(std::move(sink)) {}
  void add(u64 picoseconds, u32 rank, Item item) {
    waiting_.push({picoseconds, rank, count_++, std::move(item)});
  }
  // Passes on all items before `picoseconds`; none may be added before that time afterwards.
  void hand_on_until(u64 picoseconds) {
    for (; !waiting_.empty() && waiting_.top().at < picoseconds; waiting_.pop())
      sink_(waiting_.top().at, waiting_.top().item);
  }

 private:
  struct Entry {
    u64 at;
    u32 rank;
    u64 number;
    Item item;
    bool operator<(const Entry& o) const {  // the heap keeps the largest on top
      return std::tie(at, rank, number) > std::tie(o.at, o.rank, o.number);
    }
  };
  Sink sink_;
  std::priority_queue<Entry> waiting_;
  u64 count_ = 0;
};
}  // namespace hca::testbench

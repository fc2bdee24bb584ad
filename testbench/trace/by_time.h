// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
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
    u32 place = u32(items_.size());
    if (free_.empty()) {
      items_.push_back(std::move(item));
    } else {
      place = free_.back();
      free_.pop_back();
      items_[place] = std::move(item);
    }
    waiting_.push({picoseconds, count_++, rank, place});
  }
  // Passes on all items before `picoseconds`; none may be added before that time afterwards.
  void hand_on_until(u64 picoseconds) {
    while (!waiting_.empty() && waiting_.top().at < picoseconds) {
      const Entry first = waiting_.top();
      waiting_.pop();
      sink_(first.at, items_[first.place]);
      free_.push_back(first.place);
    }
  }

 private:
  struct Entry {
    u64 at, number;
    u32 rank, place;                        // place: in items_
    bool operator<(const Entry& o) const {  // the heap keeps the largest on top
      return std::tie(at, rank, number) > std::tie(o.at, o.rank, o.number);
    }
  };
  Sink sink_;
  std::priority_queue<Entry> waiting_;
  std::deque<Item> items_;  // the waiting ones, and places that are free
  std::vector<u32> free_;
  u64 count_ = 0;
};
}  // namespace hca::testbench

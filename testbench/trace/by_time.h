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

// Items of several sources in the order of time. They come in any order, but a chip runs ahead of
// the kernel: an item waits until no earlier one can come. Of two at the same time the smaller
// `rank` comes first, so that the order does not depend on who ran first; of one rank the first.
template <class Item>
class ByTime {
 public:
  using Sink = std::function<void(u64 picoseconds, const Item& item)>;
  explicit ByTime(Sink sink) : sink_(std::move(sink)) {}
  void add(u64 picoseconds, u32 rank, Item item) {
    waiting_.push({picoseconds, rank, count_++, std::move(item)});
  }
  // Hands on what lies before `picoseconds`: nothing that is added from now on may.
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
    bool operator<(const Entry& o) const {  // the top of a heap is the largest
      return std::tie(at, rank, number) > std::tie(o.at, o.rank, o.number);
    }
  };
  Sink sink_;
  std::priority_queue<Entry> waiting_;
  u64 count_ = 0;
};
}  // namespace hca::testbench

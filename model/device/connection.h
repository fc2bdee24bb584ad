// SPDX-License-Identifier: Apache-2.0
// Handles of a connection and a receive queue, which a queue pair uses but need not own. Only
// Contexts can make one from a number.
#pragma once
#include <algorithm>
#include <vector>

#include "model/proto/types.h"

namespace hca::device {
struct Contexts;
template <class T>
class ByConnection;

// A connection: PSNs, MSN, retries, messages sent and requests saved. A queue pair of RC, UC, UD
// or XRC owns one, whose index is its QPN.
class Connection {
 public:
  friend constexpr bool operator==(Connection, Connection) = default;

 private:
  explicit constexpr Connection(u32 index) : index_(index) {}
  u32 index_;
  friend struct Contexts;
  template <class T>
  friend class ByConnection;
};

// The queue whose WQEs the requests of a queue pair take: its own, or an SRQ.
class ReceiveQueue {
 public:
  constexpr ReceiveQueue() = default;  // the queue pair's own
  friend constexpr bool operator==(ReceiveQueue, ReceiveQueue) = default;
  constexpr bool is_shared() const { return srqn_; }
  // The number for events; 0: the queue pair's own queue.
  constexpr u32 srqn() const { return srqn_; }

 private:
  explicit constexpr ReceiveQueue(u32 srqn) : srqn_(srqn) {}
  u32 srqn_ = 0;
  friend struct Contexts;
};

// A table with an entry for each connection.
template <class T>
class ByConnection {
 public:
  using value_type = T;
  T& operator[](Connection c) { return entries_[c.index_]; }
  const T& operator[](Connection c) const { return entries_[c.index_]; }
  bool holds(Connection c) const { return c.index_ < entries_.size(); }
  // The entry, new if the table had none.
  T& make(Connection c) {
    if (!holds(c)) entries_.resize(std::max<std::size_t>(c.index_ + 1, entries_.size() * 2));
    return entries_[c.index_];
  }
  auto begin() { return entries_.begin(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

 private:
  std::vector<T> entries_;
};
}  // namespace hca::device

// SPDX-License-Identifier: Apache-2.0
// Handles of a connection and a receive queue, which a queue pair uses but need not own. Only
// Contexts can make one from a number.
#pragma once
#include <algorithm>
#include <array>
#include <vector>

#include "model/proto/types.h"

namespace hca::device {
struct Contexts;
template <class T>
class ByConnection;

// The numbers under which state of queue pairs and EE contexts is kept: a QPN, or an EE context
// number with a bit; as responder with another one. Packets, doorbells and commands carry only 24
// bits.
inline constexpr u32 kEeBit = u32{1} << 31, kReceiverBit = u32{1} << 30;
constexpr u32 ee_number(u32 eecn) { return eecn | kEeBit; }
constexpr u32 receiver_number(u32 ee) { return ee | kReceiverBit; }
constexpr u32 sender_number(u32 ee) { return ee & ~kReceiverBit; }
constexpr u32 eecn_of(u32 number) { return number & ~(kEeBit | kReceiverBit); }
constexpr bool is_ee(u32 number) { return number & kEeBit; }
// The number of a context in the RTL: 24 bits, and bit 24 of an EE context.
constexpr u32 context_number(u32 number) { return eecn_of(number) | u32{is_ee(number)} << 24; }
// The table of a number, in each table that is split by these bits.
inline constexpr unsigned kNumberParts = 4;
constexpr unsigned part_of(u32 number) { return number >> 30; }

// A connection: PSNs, MSN, retries, messages sent and requests saved. A queue pair owns one, whose
// number is its QPN, and so does an EE context of RD (G13.1). A queue pair of RD only counts its
// WQEs there.
class Connection {
 public:
  friend constexpr bool operator==(Connection, Connection) = default;

 private:
  explicit constexpr Connection(u32 number) : index_(eecn_of(number)), of_ee_(is_ee(number)) {}
  u32 index_;
  bool of_ee_;
  friend struct Contexts;
  template <class T>
  friend class ByConnection;
};

// The queue whose WQEs the requests of a queue pair take: its own, or an SRQ. The requests to an EE
// context take those of the queue pairs that they name.
class ReceiveQueue {
 public:
  constexpr ReceiveQueue() = default;  // the queue pair's own
  friend constexpr bool operator==(ReceiveQueue, ReceiveQueue) = default;
  constexpr bool is_shared() const { return srqn_; }
  // The number for events; 0: no SRQ.
  constexpr u32 srqn() const { return srqn_; }
  // RD: the queue pair that owns it; 0: the queue pair that asks.
  constexpr u32 owner() const { return owner_; }

 private:
  explicit constexpr ReceiveQueue(u32 srqn, u32 owner = 0) : srqn_(srqn), owner_(owner) {}
  u32 srqn_ = 0, owner_ = 0;
  friend struct Contexts;
};

// A table with an entry for each connection.
template <class T>
class ByConnection {
 public:
  using value_type = T;
  T& operator[](Connection c) { return entries_[c.of_ee_][c.index_]; }
  const T& operator[](Connection c) const { return entries_[c.of_ee_][c.index_]; }
  bool holds(Connection c) const { return c.index_ < entries_[c.of_ee_].size(); }
  // The entry, new if the table had none.
  T& make(Connection c) {
    std::vector<T>& part = entries_[c.of_ee_];
    if (!holds(c)) part.resize(std::max<std::size_t>(c.index_ + 1, part.size() * 2));
    return part[c.index_];
  }

 private:
  std::array<std::vector<T>, 2> entries_;  // of queue pairs, of EE contexts
};
}  // namespace hca::device

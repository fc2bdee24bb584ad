// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "testbench/programs/server/packet_socket.h"

namespace hca::attach {
// Events on their way to a program, which reads them from a descriptor: records of so many words.
// It is a stream socket's, whose end that is read is readable when the server is gone; of a pipe's
// it is not.
class EventQueue {
 public:
  explicit EventQueue(std::size_t words);  // throws std::runtime_error
  int read_end() const { return out_.get(); }
  // Never blocks the simulation: what there is no room for waits. A program that reads none of its
  // events loses the last ones. False: something waits.
  bool write(std::span<const u64> record);
  // Unread records vanish, and the descriptor is readable only if others are left.
  void remove(const std::function<bool(std::span<const u64> record)>& wanted);
  // What waits goes as far as there is room. True: something went.
  bool flush();
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  std::vector<u64> peek(int flags) const;

  const std::size_t words_;
  Descriptor in_, out_;
  std::deque<std::vector<u64>> waiting_;
};
}  // namespace hca::attach

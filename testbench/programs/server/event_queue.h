// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "testbench/programs/server/packet_socket.h"

namespace hca::attach {
// Events to a program, which reads them from a descriptor: records of a fixed number of words. It
// is a stream socket, because its reading end becomes readable when the server ends; that of a pipe
// does not.
class EventQueue {
 public:
  explicit EventQueue(std::size_t words);  // throws std::runtime_error
  int read_end() const { return out_.get(); }
  // Never blocks the simulation: records without room wait. A program that reads none of its events
  // loses the last ones. False: records are waiting.
  bool write(std::span<const u64> record);
  // Removes matching unread records; the descriptor is then readable only if others are left.
  void remove(const std::function<bool(std::span<const u64> record)>& wanted);
  // Writes waiting records as far as there is room. True: some were written.
  bool flush();
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  std::vector<u64> peek(int flags) const;

  const std::size_t words_;
  Descriptor in_, out_;
  std::deque<std::vector<u64>> waiting_;
};
}  // namespace hca::attach

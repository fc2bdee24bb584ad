// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::blocks {
// A FIFO that grows to what it once needed and then allocates no more.
template <class T>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  u32 size() const { return tail_ - head_; }
  T& front() { return slots_[head_ & mask()]; }
  const T& front() const { return slots_[head_ & mask()]; }
  T& at(u32 i) { return slots_[(head_ + i) & mask()]; }
  void push(T item) {
    if (size() == slots_.size()) grow();
    slots_[tail_++ & mask()] = std::move(item);
  }
  T pop() { return std::move(slots_[head_++ & mask()]); }

 private:
  u32 mask() const { return u32(slots_.size()) - 1; }
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : slots_.size() * 2);
    const u32 n = size();
    for (u32 i = 0; i < n; ++i) larger[i] = std::move(at(i));
    slots_ = std::move(larger);
    head_ = 0, tail_ = n;
  }
  std::vector<T> slots_;
  u32 head_ = 0, tail_ = 0;
};
}  // namespace hca::blocks

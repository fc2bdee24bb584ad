// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <utility>

#include "model/proto/types.h"

namespace hca::blocks {
// A FIFO that grows to its largest fill so far and then allocates no more.
template <class T>
class Ring {
 public:
  bool empty() const { return head_ == tail_; }
  u32 size() const { return tail_ - head_; }
  T& front() { return slots_[head_ & mask_]; }
  const T& front() const { return slots_[head_ & mask_]; }
  T& at(u32 i) { return slots_[(head_ + i) & mask_]; }
  void push(T item) { add() = std::move(item); }
  // Appends an item to fill in place. It still holds the contents of an earlier item.
  T& add() {
    if (size() == capacity_) grow();
    return slots_[tail_++ & mask_];
  }
  T pop() { return std::move(slots_[head_++ & mask_]); }
  void drop() { ++head_; }

 private:
  [[gnu::cold, gnu::noinline]] void grow() {
    const u32 n = size(), larger = capacity_ ? capacity_ * 2 : 16;
    auto slots = std::make_unique<T[]>(larger);
    for (u32 i = 0; i < n; ++i) slots[i] = std::move(at(i));
    slots_ = std::move(slots);
    capacity_ = larger;
    mask_ = larger - 1;
    head_ = 0;
    tail_ = n;
  }
  std::unique_ptr<T[]> slots_;
  u32 capacity_ = 0, mask_ = 0;
  u32 head_ = 0, tail_ = 0;
};
}  // namespace hca::blocks

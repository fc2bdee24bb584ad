// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>

#include "model/proto/types.h"

namespace hca::blocks {
// Recycled objects; T has `T* next` and `Pool<T>* home`. An object returns to the pool that created
// it.
template <class T>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  T* take() {
    if (!free_) {
      made_.emplace_back();
      made_.back().home = this;
      return &made_.back();
    }
    T* item = free_;
    free_ = item->next;
    item->next = nullptr;
    return item;
  }
  static void give_back(T* item) {
    item->next = item->home->free_;
    item->home->free_ = item;
  }

 private:
  T* free_ = nullptr;
  std::deque<T> made_;
};
}  // namespace hca::blocks

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "model/proto/types.h"

namespace hca::blocks {
// A block's state for each queue pair: created on first access, never moved.
template <class T>
class ByQp {
 public:
  T& operator[](u32 qpn) {
    if (qpn < items_.size() && items_[qpn]) [[likely]]
      return *items_[qpn];
    return make(qpn);
  }
  const T* find(u32 qpn) const { return qpn < items_.size() ? items_[qpn].get() : nullptr; }
  T* find(u32 qpn) { return qpn < items_.size() ? items_[qpn].get() : nullptr; }

 private:
  [[gnu::cold, gnu::noinline]] T& make(u32 qpn) {
    if (qpn >= items_.size()) items_.resize(std::max<std::size_t>(qpn + 1, items_.size() * 2));
    items_[qpn] = std::make_unique<T>();
    return *items_[qpn];
  }
  std::vector<std::unique_ptr<T>> items_;
};
}  // namespace hca::blocks

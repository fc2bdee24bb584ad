// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "model/device/connection.h"

namespace hca::blocks {
// A block's state for each queue pair, or EE context by its number: created on first access, never
// moved.
template <class T>
class ByQp {
 public:
  T& operator[](u32 qpn) {
    if (qpn < items_.size() && items_[qpn]) [[likely]]
      return *items_[qpn];
    if (device::is_ee(qpn)) [[unlikely]]
      return of_ees_.try_emplace(qpn).first->second;
    return make(qpn);
  }
  const T* find(u32 qpn) const { return const_cast<ByQp&>(*this).find(qpn); }
  T* find(u32 qpn) {
    if (device::is_ee(qpn)) [[unlikely]] {
      const auto found = of_ees_.find(qpn);
      return found == of_ees_.end() ? nullptr : &found->second;
    }
    return qpn < items_.size() ? items_[qpn].get() : nullptr;
  }

 private:
  [[gnu::cold, gnu::noinline]] T& make(u32 qpn) {
    if (qpn >= items_.size()) items_.resize(std::max<std::size_t>(qpn + 1, items_.size() * 2));
    items_[qpn] = std::make_unique<T>();
    return *items_[qpn];
  }
  std::vector<std::unique_ptr<T>> items_;
  std::map<u32, T> of_ees_;
};
}  // namespace hca::blocks

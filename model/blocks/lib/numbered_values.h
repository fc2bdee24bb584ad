// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <vector>

#include "model/device/connection.h"

namespace hca::blocks {
// Small values by the numbers of queue pairs and EE contexts; new ones are T{}.
template <class T>
class NumberedValues {
 public:
  T& operator[](u32 number) {
    std::vector<T>& part = parts_[device::part_of(number)];
    const u32 index = device::eecn_of(number);
    if (index >= part.size()) [[unlikely]]
      part.resize(index + 1 + index / 2);
    return part[index];
  }
  T* find(u32 number) {
    std::vector<T>& part = parts_[device::part_of(number)];
    const u32 index = device::eecn_of(number);
    return index < part.size() ? &part[index] : nullptr;
  }
  const T* find(u32 number) const { return const_cast<NumberedValues&>(*this).find(number); }
  template <class Visit>
  void each(const Visit& visit) const {
    for (const std::vector<T>& part : parts_)
      for (const T& value : part) visit(value);
  }

 private:
  std::array<std::vector<T>, device::kNumberParts> parts_;
};
}  // namespace hca::blocks

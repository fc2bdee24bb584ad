// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/types.h"

namespace hca::engine {
// A 64-bit hash of a sequence of numbers; it depends on their order. Not cryptographic.
class Digest {
 public:
  template <class... N>
  void add(N... numbers) {
    (mix(u64(numbers)), ...);
  }
  u64 value() const { return value_; }

 private:
  void mix(u64 n) {
    value_ = (value_ ^ n) * 0x9e3779b97f4a7c15u;
    value_ ^= value_ >> 29;
  }
  u64 value_ = 0x243f6a8885a308d3u;
};
}  // namespace hca::engine

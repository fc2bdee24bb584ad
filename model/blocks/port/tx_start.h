// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "model/engine/rate.h"

namespace hca::blocks {
using engine::Cycle;

// When the port may start a packet whose payload is still arriving from host memory.
enum class TxStart : u8 { Full, Threshold };
inline constexpr std::array<std::string_view, 2> kTxStartNames{"full", "threshold"};

// Computes the cycle from which a packet may go to the port, if its payload of `bytes` arrives
// between `first` and `last`: when all of it has arrived, or as soon as no gap can open on the
// wire.
class TxRelease {
 public:
  TxRelease(TxStart start, engine::Rate wire) : start_(start), wire_(wire) {}
  Cycle release(Cycle first, Cycle last, u32 bytes) {
    if (start_ == TxStart::Full) return last;
    const Cycle on_wire = wire_.cycles_for(bytes);
    return std::max(first, last > on_wire ? last - on_wire : 0);
  }

 private:
  TxStart start_;
  engine::Meter wire_;
};
}  // namespace hca::blocks

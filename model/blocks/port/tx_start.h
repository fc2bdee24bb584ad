// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

#include "model/engine/rate.h"

namespace hca::blocks {
using engine::Cycle;

// When the port may begin to send a packet whose payload is on its way from host memory.
enum class TxStart : u8 { Full, Threshold };
inline constexpr std::array<std::string_view, 2> kTxStartNames{"full", "threshold"};

// The cycle from which a packet may go to the port when its payload of `bytes` is back between
// `first` and `last`: when all of it is here, or as early as no gap can open on the wire.
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

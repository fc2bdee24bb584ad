// SPDX-License-Identifier: Apache-2.0
#include "rtl/icrc_rtl.h"

#include <Vicrc_256.h>  // made by Verilator
#include <Vicrc_512.h>

#include "rtl/verilated_block.h"

namespace hca::rtl {
namespace {
template <class Top>
using Icrc = VerilatedTop<Top, BeatControl, BeatControl>;

std::unique_ptr<VerilatedBlock<BeatControl, BeatControl>> make(u32 beat_bytes) {
  if (beat_bytes == 32) return std::make_unique<Icrc<Vicrc_256>>("icrc");
  if (beat_bytes == 64) return std::make_unique<Icrc<Vicrc_512>>("icrc");
  throw std::invalid_argument("icrc: a beat has 32 or 64 bytes, not " + std::to_string(beat_bytes));
}
}  // namespace

IcrcRtl::IcrcRtl(u32 beat_bytes) : BlockRtl(beat_bytes, make(beat_bytes)) {}
}  // namespace hca::rtl

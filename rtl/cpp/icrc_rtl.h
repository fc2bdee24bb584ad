// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/cpp/block_rtl.h"

namespace hca::rtl {
using IcrcBlock = BlockRtl<BeatControl, BeatControl>;

// rtl/icrc/icrc.sv. Bytes of a beat: 32 or 64.
class IcrcRtl : public IcrcBlock {
 public:
  explicit IcrcRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/block_rtl.h"
#include "rtl/descriptor.h"

namespace hca::rtl {
// rtl/packetizer.sv. Bytes of a beat: 32 or 64.
class PacketizerRtl : public BlockRtl<Descriptor, BeatControl> {
 public:
  explicit PacketizerRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/cpp/block_rtl.h"
#include "rtl/packetizer/descriptor.h"

namespace hca::rtl {
// rtl/packetizer/packetizer.sv. Bytes of a beat: 32 or 64.
class PacketizerRtl : public BlockRtl<Descriptor, BeatControl> {
 public:
  explicit PacketizerRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

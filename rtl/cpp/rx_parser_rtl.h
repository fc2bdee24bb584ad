// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/cpp/block_rtl.h"
#include "rtl/rx_parser/parsed.h"

namespace hca::rtl {
// rtl/rx_parser/rx_parser.sv. Bytes of a beat: 32 or 64.
class RxParserRtl : public BlockRtl<BeatControl, Parsed> {
 public:
  explicit RxParserRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/cpp/block_rtl.h"
#include "rtl/responder_check/judged.h"
#include "rtl/rx_parser/parsed.h"

namespace hca::rtl {
// rtl/responder_check/responder_check.sv, with look_ups(). Bytes of a beat: 32 or 64.
class ResponderCheckRtl : public BlockRtl<Parsed, Judged> {
 public:
  explicit ResponderCheckRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

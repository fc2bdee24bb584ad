// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/block_rtl.h"
#include "rtl/cq_step.h"

namespace hca::rtl {
// rtl/completion.sv, with look_ups(). Bytes of a beat: 32 or 64.
class CompletionRtl : public BlockRtl<CqStepBeat, CqStepped> {
 public:
  explicit CompletionRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

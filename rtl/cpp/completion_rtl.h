// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/completion/cq_step.h"
#include "rtl/cpp/block_rtl.h"

namespace hca::rtl {
// rtl/completion/completion.sv, with look_ups(). Bytes of a beat: 32 or 64.
class CompletionRtl : public BlockRtl<CqStepBeat, CqStepped> {
 public:
  explicit CompletionRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

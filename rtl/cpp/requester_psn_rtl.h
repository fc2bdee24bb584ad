// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rtl/cpp/block_rtl.h"
#include "rtl/requester_psn/psn_step.h"

namespace hca::rtl {
// rtl/requester_psn/requester_psn.sv, with look_ups(). Bytes of a beat: 32 or 64.
class RequesterPsnRtl : public BlockRtl<PsnStepBeat, PsnStepped> {
 public:
  explicit RequesterPsnRtl(u32 beat_bytes = kMaxBeatBytes);
};
}  // namespace hca::rtl

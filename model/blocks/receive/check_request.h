// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
// Judges a request and applies the verdict to its queue pair (state in `view`) and to its SRQ, if
// it has one. Returns true if it took the WQE that brings the SRQ below its limit.
[[gnu::always_inline]] inline bool check_request(const proto::RequestView& view,
                                                 proto::ReceiveState& state,
                                                 proto::SharedQueue* shared,
                                                 proto::RequestVerdict& verdict,
                                                 proto::RequestEffect& effect) {
  if (shared) [[unlikely]]
    look_at(state, *shared);
  verdict = judge_request(view);
  apply(state, view.packet, view.qp, verdict, effect);
  if (!shared) [[likely]]
    return false;
  const bool passed = verdict.action == proto::RequestAction::Execute;
  return take_from(*shared, state, view.packet, view.qp, verdict, passed, effect);
}
}  // namespace hca::blocks

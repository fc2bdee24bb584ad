// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/memory/protection.h"
#include "model/blocks/receive/responder_execute/responder_part.h"
#include "model/engine/stage.h"

namespace hca::blocks {
// The look-up and the pipeline stage that a request passes where it is carried out.
class ExecuteStage : ResponderPart {
 public:
  ExecuteStage(const ResponderPart& shared, Protection& protection)
      : ResponderPart(shared), stage_(config_.latency, config_.interval), protection_(protection) {}
  // Returns the cycle in which a request's first write may be requested.
  Cycle enter(const Packet& p, u32 key) {
    entered_ = stage_.enter(protection_.look_up(protection_.execute, now(), key));
    probe_.event(entered_, Step::Passed, p.qpn, p.psn);
    return entered_;
  }
  // The same cycle of the request that entered last.
  Cycle last() const { return entered_; }

 private:
  engine::Stage stage_;
  Protection& protection_;
  Cycle entered_ = 0;
};
}  // namespace hca::blocks

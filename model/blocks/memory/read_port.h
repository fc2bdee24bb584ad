// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/lib/stage_config.h"

namespace hca::blocks {
// One client's port to a table: the time of its look-ups, independent of other clients.
struct ReadPort {
  template <class Config>
  explicit ReadPort(const Config& config) : stage(config.latency, config.interval) {}
  Cycle look_up(Cycle at, u32 number) {
    ++looked_up;
    const Cycle out = stage.enter(at);
    probe.event(out, Step::Passed, number);
    return out;
  }
  u64 looked_up = 0;
  engine::Stage stage;
  engine::Probe probe;
};
}  // namespace hca::blocks

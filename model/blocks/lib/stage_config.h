// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/engine/counters.h"
#include "model/engine/knob.h"
#include "model/engine/probe.h"
#include "model/engine/stage.h"

namespace hca::blocks {
using engine::Cycle;
using engine::kNever;

// Every block records this event when an item passes its output, with the QPN and the PSN (packets)
// or the WQE index (work requests).
enum class Step : u16 { Passed, Completed, Arrived, Received };
inline constexpr std::array<std::string_view, 4> kStepNames{"passed", "completed", "arrived",
                                                            "received"};

// The two knobs that every block has.
struct StageKnobs {
  Cycle latency = 1;   // cycles, from an item's arrival to its departure
  Cycle interval = 1;  // cycles, from one item to the next
};
template <class Config>
constexpr auto stage_rows(std::string_view latency, std::string_view interval) {
  using engine::Unit;
  return make_rows(engine::knob("latency", &Config::latency, Unit::Cycles, 1, 100000, latency),
                   engine::knob("interval", &Config::interval, Unit::Cycles, 1, 100000, interval));
}
}  // namespace hca::blocks

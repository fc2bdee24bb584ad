// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "model/engine/knob_text.h"
#include "testbench/scenario/scenario.h"

namespace hca::testbench {
// The knob at a path for `--set`: "wire.latency", "workload[0].size". Empty: there is no such knob,
// or the scenario's list has no such entry.
std::optional<engine::KnobInfo> knob_at(const std::string& path, const Scenario& scenario);
// The closest known path; empty: none is close.
std::string nearest_knob(const std::string& path);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "testbench/run/run.h"

namespace hca::testbench {
inline constexpr std::array kPercentiles{50.0, 99.0, 99.9};  // of latencies

// The result in perftest's form, then the breakdown of the time, then the errors.
std::string text_of(const RunResult& result, const Scenario& scenario);
// The same as data, with every knob that the run depended on.
nlohmann::json json_of(const RunResult& result, const Scenario& scenario);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "testbench/replay.h"

namespace hca::testbench {
// One line for each report, what differs, and the allowed differences that were used.
std::string text_of(std::span<const ReplayReport> reports);
nlohmann::json json_of(const ReplayReport& report);
}  // namespace hca::testbench

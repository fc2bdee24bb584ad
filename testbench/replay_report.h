// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "testbench/replay.h"

namespace hca::testbench {
// A capture that needs what the model does not have.
struct WaitingCapture {
  std::string capture, needs;
};
struct ReplayRun {
  std::vector<ReplayReport> reports;
  std::vector<WaitingCapture> waiting;
};

// One line for each report, what differs, and the allowed differences that were used.
std::string text_of(const ReplayRun& run);
// {"reports": [...], "waiting": [...]}
nlohmann::json json_of(const ReplayRun& run);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "testbench/replay/replay.h"
#include "testbench/replay/replay_judge_report.h"

namespace hca::testbench {
// A capture that needs a feature that the model does not have.
struct WaitingCapture {
  std::string capture, needs;
};
struct ReplayRun {
  std::vector<ReplayReport> reports;
  std::vector<WaitingCapture> waiting;
  std::vector<JudgedCapture> judged;  // judged by their packets
};

// One line for each report, the differences, and the allowed differences that were used.
std::string text_of(const ReplayRun& run);
// {"reports": [...], "waiting": [...], "judged": [...]}
nlohmann::json json_of(const ReplayRun& run);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// A capture without a JSON as conversations of two ends each.
#pragma once
#include "testbench/replay/replay_judge_report.h"

namespace hca::testbench {
// For each two addresses that speak with each other over RC, or UD if there is no RC: a capture
// whose set-up is learned. What the model cannot stand in for is added to `judged.not_replayed`.
std::vector<Capture> pairs_of(const std::string& path, JudgedCapture& judged);
}  // namespace hca::testbench

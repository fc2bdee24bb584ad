// SPDX-License-Identifier: Apache-2.0
// Splits a capture without a JSON into conversations of two ends each.
#pragma once
#include "testbench/replay/replay_judge_report.h"

namespace hca::testbench {
// For each two addresses that communicate over RC, or UD if there is no RC: a capture with a
// learned set-up. Ends that the model cannot replace are added to `judged.not_replayed`.
std::vector<Capture> pairs_of(const std::string& path, JudgedCapture& judged);
}  // namespace hca::testbench

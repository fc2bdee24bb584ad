// SPDX-License-Identifier: Apache-2.0
// Queue pairs that were recreated with the same numbers, without a CM message that shows it.
#pragma once
#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
// Splits flows where their PSNs, and for RC also the MSNs of the answers, start again: a loss
// cannot explain that.
void split_restarts(std::vector<Flow>& flows);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Queue pairs that were made anew with the same numbers, where no CM tells it.
#pragma once
#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
// Takes flows apart where their PSNs, and of RC the MSNs of the answers as well, begin anew: no
// loss explains that.
void split_restarts(std::vector<Flow>& flows);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Compares a host's view of its queues with the recording: completions and queue pair states.
#pragma once
#include "testbench/packets/frame_text.h"
#include "testbench/replay/replay_allowed.h"

namespace hca::testbench {
// All differences that no row allows; allowed ones are counted in `uses`. `s` has our completion.
std::vector<FieldDifference> compare_completion(const ReplayEvent& recorded, Situation s,
                                                AllowedUses& uses);
std::vector<FieldDifference> compare_state(const ReplayEvent& recorded,
                                           const proto::QpAttributes& ours, Situation s,
                                           AllowedUses& uses);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Compares a frame with its recording field by field, by the names of the field tables.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "testbench/packets/frame_text.h"
#include "testbench/replay/replay_allowed.h"

namespace hca::testbench {
// All differences that no row allows; allowed ones are counted in `uses`.
std::vector<FieldDifference> compare_frames(const Seen& recorded, const Seen& ours,
                                            const QpHistory* qp, AllowedUses& uses);
}  // namespace hca::testbench

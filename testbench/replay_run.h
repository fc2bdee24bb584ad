// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/replay.h"

namespace hca::testbench {
// One run over one timeline. `losses`: frames that seem to be lost between the recording point and
// the device are not delivered. True if there are such frames.
bool run_replay(const Capture& capture, End end, const ReplayRunner& runner,
                const Timeline& timeline, bool losses, ReplayReport& report);
}  // namespace hca::testbench

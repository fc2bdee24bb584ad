// SPDX-License-Identifier: Apache-2.0
// A capture without set-up: learns the actions of its hosts from its frames.
#pragma once
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Sets sides and events of a capture that has only frames: addresses, pairs of queue pairs, PSNs,
// the path MTU, the regions of its keys, the messages and their data. Each post is placed directly
// before its first frame. Frames that cannot be replayed are left out and counted: see
// find_conversation(). Throws std::runtime_error if answers and requests do not match.
void learn_setup(Capture& capture);
}  // namespace hca::testbench

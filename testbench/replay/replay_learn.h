// SPDX-License-Identifier: Apache-2.0
// A capture without set-up: what its hosts must have done is learned from its frames.
#pragma once
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Sets sides and events of a capture that has only frames: addresses, pairs of queue pairs, PSNs,
// the path MTU, the regions that its keys name, the messages and what they carry. Posts stand right
// before their first frame. What cannot be replayed is left out and counted: see
// find_conversation(). Throws std::runtime_error where answers and requests do not fit.
void learn_setup(Capture& capture);
}  // namespace hca::testbench

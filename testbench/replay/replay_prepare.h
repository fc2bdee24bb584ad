// SPDX-License-Identifier: Apache-2.0
// The preparation of a capture for its replay.
#pragma once
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Removes VLAN and priority tags, which belong to the path, not the transport; returns their
// number.
std::size_t take_tags_off(Capture& capture);
// Treats datagram queue pairs as connections, marks failed posts, and learns missing information
// from the frames.
void prepare_events(Capture& capture);
}  // namespace hca::testbench

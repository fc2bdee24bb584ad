// SPDX-License-Identifier: Apache-2.0
// What is done to a capture before it is replayed.
#pragma once
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// VLAN and priority tags are of the way, not of the transport: taken off; how many.
std::size_t take_tags_off(Capture& capture);
// Datagram queue pairs as connections, posts that failed marked, what is not told learned from the
// frames.
void prepare_events(Capture& capture);
}  // namespace hca::testbench

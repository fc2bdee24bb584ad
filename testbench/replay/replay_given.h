// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/replay/replay_judge.h"

namespace hca::testbench {
// The packets of a file as a port of the device sees them: recorder headers, tunnels and frame
// check sequences are removed. A record without a packet has a note.
std::vector<GivenPacket> packets_of_file(const std::string& path);
}  // namespace hca::testbench

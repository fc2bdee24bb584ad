// SPDX-License-Identifier: Apache-2.0
// Connections that the communication manager made in a capture: what its REQ and REP say of them.
#pragma once
#include <vector>

#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
// Of each two messages of the CM, a REQ and the REP that answers it, in the order of the REPs; a
// message that is sent again makes no other connection.
std::vector<CmConnection> find_connections(const std::vector<JudgedPacket>& packets);
}  // namespace hca::testbench

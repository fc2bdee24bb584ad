// SPDX-License-Identifier: Apache-2.0
// Connections that the communication manager established in a capture: the data of its REQ and REP.
#pragma once
#include <vector>

#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
// One connection for each REQ and the REP that answers it, in the order of the REPs; a repeated
// message adds no connection.
std::vector<CmConnection> find_connections(const std::vector<JudgedPacket>& packets);
}  // namespace hca::testbench

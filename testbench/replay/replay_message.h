// SPDX-License-Identifier: Apache-2.0
// A message of a capture without set-up, from its packets; and what else they show of queue pairs.
#pragma once
#include <vector>

#include "model/proto/interface/work_rows.h"
#include "testbench/replay/replay_conversation.h"

namespace hca::testbench {
struct SeenMessage {
  const LearnedPacket* first;
  std::vector<u8> payload;
  const LearnedPacket* last = nullptr;
  const proto::OpcodeRow& row() const { return *first->seen.packet.opcode; }
};

std::span<const u8> payload_of(const LearnedPacket& packet);
// The contents of a receive buffer for a datagram: an IPv4 header follows 20 zero bytes; without a
// GRH nothing is written there.
std::vector<u8> with_network_header(const SeenMessage& message);
// The work request that sends these packets. Optional operations are not learned. Throws
// std::runtime_error.
const proto::WorkRow& work_of(const SeenMessage& message);

// The timer code of the RNR NAKs that an end sends on a connection; 12 if there is none.
u8 rnr_timer_of(const std::vector<LearnedPacket>& packets, std::size_t pair, End end);
// RD: a queue pair that sends or receives over the EE contexts of the pairs.
struct LearnedQueue {
  End end;
  u32 qpn;
  u32 qkey = 0;  // 0: nothing reaches it
  u8 rnr_timer = 12;
};
std::vector<LearnedQueue> find_rd_queues(const std::vector<LearnedPacket>& packets);
}  // namespace hca::testbench

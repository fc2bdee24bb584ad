// SPDX-License-Identifier: Apache-2.0
// The packets of a capture without set-up, and their owners: the first step of learning.
#pragma once
#include <map>
#include <set>
#include <vector>

#include "testbench/replay/replay_history.h"

namespace hca::testbench {
struct LearnedPacket {
  Seen seen;
  End from;
  u64 time;
  std::size_t pair = 0;  // of Conversation::pairs
};

// Two queue pairs that communicate; of RD two EE contexts.
struct LearnedPair {
  u32 qpns[2];
  // For each end's requests: the first PSN of the first message captured from its beginning, and of
  // the first message not captured to its end.
  std::optional<u32> first[2], unfinished[2];
  u32 qpn(End end) const { return qpns[unsigned(end)]; }
};

struct Conversation {
  std::vector<LearnedPacket> packets;  // good packets, as sent
  std::vector<LearnedPair> pairs;
  u32 mtu = 0;
  proto::Service service = proto::Service::Rc;
};

// Removes frames that cannot be replayed from the capture, and counts them: services other than RC
// (other than UD if there is no RC), and messages that began before the capture or end after it.
Conversation find_conversation(Capture& capture);

// Inserts requests that the recording only has as repetitions at the place of their first
// transmission, as lost on the way.
void restore_lost(Capture& capture, u32 mtu);

// Replaces the data of an end's `connect` event by those of the CM for a pair of queue pairs.
void use_connection(const Capture& capture, const LearnedPair& pair, End end,
                    nlohmann::json& connect);

// The number of PSNs of a request: one, for a READ those of its responses.
u32 psns_of_request(const Seen& request, u32 mtu);

// A responder may have counted messages before the capture. Renumbers the MSNs in its frames, so
// that the first captured message counts as the first one. `executed`: number of messages executed,
// by pair, requesting end, and final PSN.
using Executed = std::map<std::pair<std::size_t, End>, std::vector<u32>>;
void count_messages_from_here(Capture& capture, const Conversation& c, const Executed& executed);
}  // namespace hca::testbench

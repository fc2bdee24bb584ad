// SPDX-License-Identifier: Apache-2.0
// The packets of a capture without set-up, and whose they are: what learning begins with.
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

// Two queue pairs that speak with each other.
struct LearnedPair {
  u32 qpns[2];
  // Of each end's requests: the first PSN of the first message that is here from its beginning on,
  // and of one that is not here to its end.
  std::optional<u32> first[2], unfinished[2];
  u32 qpn(End end) const { return qpns[unsigned(end)]; }
};

struct Conversation {
  std::vector<LearnedPacket> packets;  // good ones, as sent
  std::vector<LearnedPair> pairs;
  u32 mtu = 0;
  proto::Service service = proto::Service::Rc;
};

// Takes frames that cannot be replayed out of the capture, and counts them: other services than RC
// (than UD if there is no RC), what belongs to messages that began before the capture or end behind
// it.
Conversation find_conversation(Capture& capture);

// Requests that the recording has only from when they were sent again stand where they must have
// been sent first, as lost on the way.
void restore_lost(Capture& capture, u32 mtu);

// What the CM told of a pair of queue pairs takes the place of what a `connect` event of an end
// has.
void use_connection(const Capture& capture, const LearnedPair& pair, End end,
                    nlohmann::json& connect);

// The PSNs of a request: one, of a READ those of its responses.
u32 psns_of_request(const Seen& request, u32 mtu);

// A responder's MSN counts on from before the capture: taken down in its frames to what it is when
// the first message here is the first there is. `executed`: by pair, end that asks, and PSN at the
// end of it, the messages.
using Executed = std::map<std::pair<std::size_t, End>, std::vector<u32>>;
void count_messages_from_here(Capture& capture, const Conversation& c, const Executed& executed);
}  // namespace hca::testbench

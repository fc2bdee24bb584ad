// SPDX-License-Identifier: Apache-2.0
// Judges a capture that nobody describes: the packets alone say who speaks with whom, and the
// statements say what they may do. What a statement leaves open is a freedom and counted; what
// packets alone cannot tell is named, not judged.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "model/proto/wire/framing.h"
#include "testbench/replay/replay_judge_rules.h"

namespace hca::testbench {
struct GivenPacket {
  std::size_t number = 0;  // in the capture, from 1
  u64 time_ns = 0;
  proto::LinkLayer link = proto::LinkLayer::Ethernet;
  std::vector<u8> bytes;
  u32 bytes_on_wire = 0;  // more than bytes.size(): the recorder cut it
  std::string note{};     // not empty: the record holds no frame, and why
};

struct JudgeOptions {
  bool complete = false;  // every packet that was sent is here: none is lost at the recorder
  std::string profile{};  // whose deviations are excused; empty: nobody's
};

struct Breach {
  std::size_t frame;  // its number in the capture
  std::string statement, what;
};

using Counts = std::map<std::string, u64>;
struct Judgement {
  std::size_t frames = 0, judged = 0;  // `judged`: whole packets of our protocols
  std::vector<Breach> breaches;        // in the order of the frames
  std::vector<std::string> conversations;
  Counts freedoms, deviations, losses, not_judged;

  bool is_legal() const { return breaches.empty(); }
  // Of nothing of ours there is nothing to say.
  bool says_something() const { return judged != 0; }
};

Judgement judge(const std::vector<GivenPacket>& packets, const JudgeOptions& options);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Judges a capture without a description: the packets alone show who communicates with whom, and
// the statements define what is allowed. Choices that a statement permits are counted as freedoms;
// questions that packets alone cannot answer are listed, not judged.
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
  u32 bytes_on_wire = 0;  // more than bytes.size() if the recorder cut it
  std::string note{};     // not empty: the reason why the record holds no frame
};

struct JudgeOptions {
  bool complete = false;  // every sent packet is here: the recorder lost none
  std::string profile{};  // whose deviations are excused; empty: none
};

struct Breach {
  std::size_t frame;  // its number in the capture
  std::string statement, what;
};

using Counts = std::map<std::string, u64>;
struct Judgement {
  std::size_t frames = 0, judged = 0;  // `judged`: complete RDMA packets
  std::vector<Breach> breaches;        // in the order of the frames
  std::vector<std::string> conversations;
  Counts freedoms, deviations, losses, not_judged;

  bool is_legal() const { return breaches.empty(); }
  // False: the capture has no RDMA packet to judge.
  bool says_something() const { return judged != 0; }
};

Judgement judge(const std::vector<GivenPacket>& packets, const JudgeOptions& options);
}  // namespace hca::testbench

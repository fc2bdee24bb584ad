// SPDX-License-Identifier: Apache-2.0
// The requests of one end of a reliable connection in the order of their PSNs, and the recording's
// information on each.
#pragma once
#include <set>

#include "testbench/replay/replay_judge_packets.h"

namespace hca::testbench {
// A PSN that does not wrap, counted from the first one of the recording.
using LongPsn = std::int64_t;

struct KnownRequest {
  const JudgedPacket* packet = nullptr;  // the first copy
  LongPsn first = 0;
  u32 psns = 1;
  // Number of its segment. A missing packet begins a new one, because message counts are then lost.
  std::size_t segment = 0;
  LongPsn last() const { return first + psns - 1; }
};
struct Copy {
  const JudgedPacket* packet;
  LongPsn first;
  u32 psns;
  LongPsn last() const { return first + psns - 1; }
};
struct Hole {
  LongPsn from, to;   // `to` is exclusive
  std::size_t frame;  // the first one after the hole
  const JudgedPacket* after;
};

class Requests {
 public:
  Requests(const Flow& flow, Verdicts& verdicts) : flow_(flow), verdicts_(verdicts) {}
  // Reads the packets in the order of the capture; judges repetitions.
  void read();
  // Judges order, lengths and positions of the known requests, once all holes are known.
  void judge_order();

  LongPsn long_psn(u32 psn, LongPsn near) const;
  const KnownRequest* at(LongPsn psn) const;  // the request to which this PSN belongs
  // The number of messages that end at or before this PSN, counted within its segment.
  struct Ended {
    std::size_t segment;
    LongPsn count;
  };
  std::optional<Ended> ended_by(LongPsn psn) const;
  // RD: a RESYNC up to this PSN ended its message.
  bool was_ended(const KnownRequest& request, LongPsn by) const;
  // The number of messages up to this request that take a receive WQE.
  u64 wqes_by(LongPsn psn) const;

  std::map<LongPsn, KnownRequest> known;
  std::vector<Copy> copies;  // all requests in the order of the capture
  std::vector<Hole> holes;   // never filled
  LongPsn end = 0;           // after the newest
  const Flow& flow() const { return flow_; }

 private:
  void repeat(const JudgedPacket& p, LongPsn first);
  void fill(LongPsn from, LongPsn to);
  void judge_length(const KnownRequest& r);
  void judge_srq(const JudgedPacket& before, const JudgedPacket& p);
  void judge_queue_pair(const JudgedPacket& before, const JudgedPacket& p);

  const Flow& flow_;
  Verdicts& verdicts_;
  std::optional<u32> base_;
  std::vector<std::pair<LongPsn, std::size_t>> ends_;  // ends of messages, with their segments
  std::vector<LongPsn> wqes_;
  std::set<LongPsn> resyncs_;
};

// Judges their answers.
void judge_answers(Requests& requests, const std::vector<const JudgedPacket*>& answers,
                   Verdicts& verdicts);
}  // namespace hca::testbench

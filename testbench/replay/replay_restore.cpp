// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "model/proto/transport/psn.h"
#include "testbench/replay/replay_conversation.h"

namespace hca::testbench {
using namespace proto;

namespace {
using Stream = std::pair<End, u32>;  // who sends, and to which queue pair

class Restorer {
 public:
  Restorer(Capture& capture, u32 mtu) : capture_(capture), mtu_(mtu) {
    for (const ReplayFrame& frame : capture.frames) seen_.emplace_back(frame);
  }

  void run() {
    std::vector<ReplayFrame> all;
    std::map<Stream, u32> next;
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      if (is_sent_request(i)) {
        const auto [due, is_new] = next.try_emplace(stream_of(i), seen_[i].psn());
        const s32 ahead = psn_distance(due->second, seen_[i].psn());
        if (ahead > 0) fill(i, due->second, all);
        if (ahead >= 0) due->second = behind(i);
      }
      all.push_back(capture_.frames[i]);
    }
    capture_.frames = std::move(all);
  }

 private:
  bool is_sent_request(std::size_t i) const {
    return seen_[i].is_request() && was_sent(capture_.frames[i].fate) &&
           is_reliable(seen_[i].packet.opcode->service);
  }
  Stream stream_of(std::size_t i) const {
    return {capture_.frames[i].from, connection_named_by(seen_[i].packet)};
  }
  u32 behind(std::size_t i) const {
    return psn_add(seen_[i].psn(), psns_of_request(seen_[i], mtu_));
  }
  // What is due before frame `i`, from later copies of it.
  void fill(std::size_t i, u32 due, std::vector<ReplayFrame>& all) {
    while (due != seen_[i].psn()) {
      std::size_t copy = i + 1;
      while (copy < seen_.size() && !(is_sent_request(copy) && stream_of(copy) == stream_of(i) &&
                                      seen_[copy].psn() == due))
        ++copy;
      if (copy == seen_.size()) return;  // nobody knows what it was
      ReplayFrame lost = capture_.frames[copy];
      lost.time_ns = capture_.frames[i].time_ns;
      lost.fate = Fate::Dropped;
      lost.number = 0;
      all.push_back(std::move(lost));
      ++capture_.restored;
      due = behind(copy);
    }
  }

  Capture& capture_;
  u32 mtu_;
  std::vector<Seen> seen_;
};
}  // namespace

void restore_lost(Capture& capture, u32 mtu) { Restorer(capture, mtu).run(); }
}  // namespace hca::testbench

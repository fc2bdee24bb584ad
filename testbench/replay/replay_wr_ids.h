// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// Finds posts or completions by their wr_id, requested in the order of their queue, because a wr_id
// may repeat.
class WrIdCursor {
 public:
  explicit WrIdCursor(const Capture& capture) : events_(capture.events) {}
  // The next event of that kind, for a completion of that queue. A post to an SRQ names no queue
  // pair. nullptr: none is left.
  const ReplayEvent* take(End side, std::string_view kind, const std::string& queue, u64 qpn,
                          u64 wr_id) {
    const bool shared = kind == "post_srq_recv";
    if (shared) qpn = 0;
    std::size_t& from = from_[{side, queue, qpn}];
    for (std::size_t i = from; i < events_.size(); ++i)
      if (const ReplayEvent& e = events_[i];
          e.kind == kind && e.side == side && (kind != "wc" || e.text("queue") == queue) &&
          (shared || e.number("qpn") == qpn) && e.number("wr_id") == wr_id) {
        from = i + 1;
        return &e;
      }
    return nullptr;
  }

 private:
  const std::vector<ReplayEvent>& events_;
  std::map<std::tuple<End, std::string, u64>, std::size_t> from_;
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <unordered_map>

#include "tlm/pcie/tlp_line.h"

namespace hca::tlm_ {
// Reads of one cache line of host memory follow each other: each holds its line for an interval,
// exact to the picosecond, and the next one begins after it. Calls come in the order of the TLPs.
class LineReads {
 public:
  // `picoseconds` 0: no read waits.
  LineReads(u64 picoseconds, u64 hertz)
      : clock_(kBitsPerSecond, hertz),
        interval_(clock_.span_of(picoseconds)),
        window_(kWindow * std::max<Cycle>(clock_.cycles_for(picoseconds), 1)) {}
  bool is_on() const { return interval_.n != 0; }
  // No later read begins before cycle `arrived`.
  void pass_until(Cycle arrived) {
    if (arrived < window_end_) return;
    window_end_ = arrived + window_;
    busiest_ = 0;
    std::erase_if(lines_,
                  [&](const auto& line) { return line.second.free.free_from() <= arrived; });
    for (auto& [number, line] : lines_) line.held = 0;
  }
  struct Turn {
    Cycle begins = 0, ends = 0;
    Cycle more = 0;  // by this much the line that was held longest in this window is held longer
  };
  // A read of line `number` that may begin in cycle `at`.
  Turn take(Cycle at, u64 number) {
    Line& line = lines_.try_emplace(number, clock_).first->second;
    Turn turn;
    turn.begins = std::max(at, line.free.free_from());
    turn.ends = line.free.send(at, interval_);
    line.held += turn.ends - turn.begins;
    turn.more = line.held - std::min(line.held, busiest_);
    busiest_ += turn.more;
    return turn;
  }

 private:
  // A byte of this rate is a picosecond.
  static constexpr u64 kBitsPerSecond = 8 * engine::kPicosecondsPerSecond;
  static constexpr u64 kWindow = 256;  // intervals after which lines that are free are forgotten
  struct Line {
    explicit Line(const engine::Rate& clock) : free(clock) {}
    TlpLine free;
    Cycle held = 0;  // in this window
  };
  engine::Rate clock_;
  engine::Rate::Span interval_;
  Cycle window_, window_end_ = 0, busiest_ = 0;
  std::unordered_map<u64, Line> lines_;  // by address / 64
};
}  // namespace hca::tlm_

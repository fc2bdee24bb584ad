// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>

#include "tlm/pcie/tlp_line.h"

namespace hca::tlm_ {
// The line downstream. The times of completions are computed in order and ahead of time. An MMIO
// write is inserted: it does not wait for them but uses the free time between them from its cycle
// on; the part that does not fit delays completions computed later. So the line never carries more
// than its rate, and times already computed do not change.
class DownLine : public TlpLine {
 public:
  using TlpLine::TlpLine;
  Cycle send(Cycle at, const engine::Rate::Span& bytes) {
    if (at > free_from()) leave(free_from(), at);
    return TlpLine::send(at, bytes);
  }
  Cycle send(Cycle at, u64 bytes) { return send(at, span_of(bytes)); }
  // Places a completion that may start in cycle `at` in the first gap that holds it; returns when
  // all of it has left. 0: no gap holds it.
  Cycle fit(Cycle at, u64 bytes) {
    const Cycle takes = rate().cycles_for(bytes);
    forget_until(0);
    for (u32 i = first_; i != end_; ++i) {
      Gap& g = known(i);
      const Cycle from = std::max(g.from, at), to = from + takes;
      if (to > g.to || g.bytes < bytes) continue;
      g.bytes -= bytes;
      if (from == g.from) return g.from = to;
      // Splits the gap: the parts before and after the completion.
      if (end_ - first_ == kGaps) {
        g.to = from;
        return to;
      }
      for (u32 k = end_++; k != i; --k) gap(k) = gap(k - 1);
      gap(i).to = from;
      gap(i + 1).from = to;
      gap(i).bytes = std::min(g.bytes, rate().bytes_in(from - gap(i).from));
      gap(i + 1).bytes =
          std::min(gap(i + 1).bytes - gap(i).bytes, rate().bytes_in(gap(i + 1).to - to));
      return to;
    }
    return 0;
  }
  // An MMIO write that starts in cycle `at`.
  void insert(Cycle at, u64 bytes) {
    if (free_from() <= at) return void(send(at, bytes));
    forget_until(at);
    for (u32 i = first_; i != end_ && bytes; ++i) {
      Gap& g = known(i);
      const u64 used = std::min({bytes, g.bytes, rate().bytes_in(g.to - std::max(g.from, at))});
      g.bytes -= used;
      bytes -= used;
    }
    if (bytes) go_on(bytes);
  }

 private:
  // Free time between completions, and the part of it that no MMIO write uses.
  struct Gap {
    Cycle from = 0, to = 0;
    u64 bytes = 0;
  };
  static constexpr u64 kUnknown = ~u64{0};
  static constexpr u32 kGaps = 64;  // the latest ones; older gaps are lost to MMIO writes
  Gap& gap(u32 i) { return gaps_[i % kGaps]; }
  // Removes gaps that are over or replaced.
  void forget_until(Cycle at) {
    if (end_ - first_ > kGaps) first_ = end_ - kGaps;
    while (first_ != end_ && gap(first_).to <= at) ++first_;
  }
  // The free part is computed on demand: most gaps expire unused.
  Gap& known(u32 i) {
    Gap& g = gap(i);
    if (g.bytes == kUnknown) g.bytes = rate().bytes_in(g.to - g.from);
    return g;
  }
  void leave(Cycle from, Cycle to) {
    Gap& g = gap(end_++);
    g.from = from;
    g.to = to;
    g.bytes = kUnknown;
  }
  std::array<Gap, kGaps> gaps_{};
  u32 first_ = 0, end_ = 0;
};
}  // namespace hca::tlm_

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <queue>

#include "model/blocks/lib/numbered_values.h"
#include "model/engine/cycle.h"

namespace hca::blocks {
using engine::Cycle;
using engine::kNever;

// One deadline per queue pair. Setting and clearing cost one store: an entry that comes due early
// is requeued or dropped.
class Timers {
 public:
  // Returns the cycle in which due() must be called; kNever: a call is already scheduled.
  Cycle set(u32 qpn, Cycle at) {
    Deadline& d = deadlines_[qpn];
    d.at = at;
    if (d.queued <= at) return kNever;
    d.queued = at;
    queue_.push({at, qpn});
    first_ = queue_.top().at;
    return at;
  }
  void clear(u32 qpn) {
    if (Deadline* const d = deadlines_.find(qpn)) d->at = kNever;
  }
  // kNever: the timer does not run.
  Cycle deadline(u32 qpn) const {
    const Deadline* const d = deadlines_.find(qpn);
    return d ? d->at : kNever;
  }
  bool runs(u32 qpn) const { return deadline(qpn) != kNever; }

  bool may_be_due(Cycle now) const { return first_ <= now; }
  // Returns, once, a queue pair whose deadline is `now` or earlier; kNone: there is none. `again`:
  // when to call next; kNever: no need.
  static constexpr u32 kNone = ~u32{0};
  u32 due(Cycle now, Cycle& again) {
    again = kNever;
    if (!may_be_due(now)) return kNone;
    u32 found = kNone;
    while (found == kNone && may_be_due(now)) {
      const Entry e = queue_.top();
      queue_.pop();
      Deadline& d = deadlines_[e.qpn];
      if (d.queued == e.at) {
        d.queued = kNever;
        if (d.at <= now) {
          d.at = kNever;
          found = e.qpn;
        } else if (d.at != kNever) {
          d.queued = d.at;
          queue_.push({d.at, e.qpn});
        }
      }
      first_ = queue_.empty() ? kNever : queue_.top().at;
    }
    again = first_;
    return found;
  }
  // The earliest armed deadline.
  Cycle next() const {
    Cycle at = kNever;
    deadlines_.each([&](const Deadline& d) { at = d.at < at ? d.at : at; });
    return at;
  }

 private:
  struct Deadline {
    Cycle at = kNever, queued = kNever;
  };
  struct Entry {
    Cycle at;
    u32 qpn;
    bool operator<(const Entry& o) const { return at != o.at ? at > o.at : qpn > o.qpn; }
  };
  Cycle first_ = kNever;  // the earliest of queue_; kNever: queue_ is empty
  NumberedValues<Deadline> deadlines_;
  std::priority_queue<Entry> queue_;
};
}  // namespace hca::blocks

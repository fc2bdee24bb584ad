// SPDX-License-Identifier: Apache-2.0
// Calls and completions of a program that fail by a list `fail`. The counters lie in the memory
// shared by library and server.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// Counts one more call or completion in all entries for which `is_of(entry, verb)` is true. Returns
// the index of the first entry by which it fails; empty: it does not fail.
template <class IsOf>
std::optional<u32> next_failure(SharedControl& control, IsOf is_of) {
  const u32 used = std::min<u32>(control.failures.load(std::memory_order_acquire), kMostFails);
  std::optional<u32> found;
  for (u32 i = 0; i < used; ++i) {
    SharedFailure& entry = control.failing[i];
    const u32 verb = entry.verb.load(std::memory_order_acquire);
    if (!verb || !is_of(entry, FailVerb(verb - 1))) continue;
    const u64 seen = entry.seen.fetch_add(1) + 1;
    if (found || seen < entry.nth || seen - entry.nth >= entry.times) continue;
    entry.done.fetch_add(1);
    found = i;
  }
  return found;
}
// Counts one more call of the verb; returns its errno value, 0: it does not fail.
inline int failure_of(SharedControl& control, FailVerb verb) {
  const auto found = next_failure(control, [verb](const SharedFailure& entry, FailVerb its) {
    return its == verb && entry.error;
  });
  return found ? control.failing[*found].error : 0;
}

// For an entry of `faults` or `fail`: how many frames, calls or completions matched, and how many
// were affected.
struct EntryUse {
  u64 seen = 0, done = 0;
};

// The entries of one program, at the server.
class Failures {
 public:
  explicit Failures(SharedControl& control) : control_(control) {}
  void set(const std::vector<FailConfig>& fails);  // counts of existing entries continue
  void add_uses(std::vector<EntryUse>& uses) const;
  // The error of a request, 0: none.
  int of(const Request& request);
  // Applied to CQEs before the program sees them. A queue pair whose completion fails is in Error.
  void change(std::span<u8> cqes);
  // Queue pairs that have failed since the last call, to be reported to the HCA.
  std::vector<u32> take_failed() { return std::exchange(failed_, {}); }
  bool any_failed() const { return !failed_.empty(); }
  void forget(u32 qpn) { std::erase(flushing_, qpn); }  // it was destroyed or reset

 private:
  proto::WcStatus status_of(const proto::Cqe& cqe);
  SharedControl& control_;
  std::vector<FailConfig> fails_;
  bool of_completions_ = false;
  std::vector<u32> failed_, flushing_;
};
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
// Calls and completions of a program that fail because a list `fail` says so. The counts lie in the
// memory that library and server share.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// One more call or completion, which all entries count that `is_of(entry, verb)`: the place of the
// first of them by which it fails; nothing: it does not fail.
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
// errno's value for one more call of the verb; 0: it does not fail.
inline int failure_of(SharedControl& control, FailVerb verb) {
  const auto found = next_failure(control, [verb](const SharedFailure& entry, FailVerb its) {
    return its == verb && entry.error;
  });
  return found ? control.failing[*found].error : 0;
}

// Of an entry of `faults` or `fail`: how many frames, calls or completions matched, and to how many
// of them it happened.
struct EntryUse {
  u64 seen = 0, done = 0;
};

// The entries of one program, at the server.
class Failures {
 public:
  explicit Failures(SharedControl& control) : control_(control) {}
  void set(const std::vector<FailConfig>& fails);  // those that are there already go on
  void add_uses(std::vector<EntryUse>& uses) const;
  // What a request fails with, 0: it does not.
  int of(const Request& request);
  // CQEs that are on their way to the program. A queue pair whose completion fails is in Error.
  void change(std::span<u8> cqes);
  // Queue pairs that have failed since the last call, for the HCA to know.
  std::vector<u32> take_failed() { return std::exchange(failed_, {}); }
  bool any_failed() const { return !failed_.empty(); }
  void forget(u32 qpn) { std::erase(flushing_, qpn); }  // it is gone, or in Reset

 private:
  proto::WcStatus status_of(const proto::Cqe& cqe);
  SharedControl& control_;
  std::vector<FailConfig> fails_;
  bool of_completions_ = false;
  std::vector<u32> failed_, flushing_;
};
}  // namespace hca::attach

// SPDX-License-Identifier: Apache-2.0
// Replays one end of a capture on a model of the HCA. The replay is causal, not timed: a recorded
// frame or host event is delivered when our side has sent and completed everything before it; if
// only a timer can produce the missing item, when that timer fires.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "testbench/host/replay_device.h"
#include "testbench/replay/replay_capture.h"
#include "testbench/replay/replay_compare.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
// The first deviation from the recording.
struct Difference {
  std::string where;  // "frame 14", "completion 3 (event 20)", "memory", "QP state (event 31)"
  std::string what;
  std::vector<FieldDifference> fields;
};

struct ReplayReport {
  std::string capture;
  std::string_view runner;
  End end = End::A;
  u64 frames_compared = 0, frames_delivered = 0, completions_compared = 0, states_compared = 0;
  u64 memory_bytes_compared = 0, frames_lost = 0;
  u64 timers_fired = 0, rnr_timers_fired = 0;  // all timers, and those after RNR NAKs
  AllowedUses allowed_uses;
  // The order of events and frames.
  OffsetWindow window;
  std::size_t open_pairs = 0, orders = 0, order_taken = 0;
  std::size_t gave_up_after = 0;  // number of runs, if some orders were not tried
  std::int64_t offset = 0;
  std::vector<std::string> taken;  // of the open orders: neighbours in time
  std::optional<Difference> difference;
  // Recorded frames of our end: those compared with ours, and those that an allowed difference says
  // must not be sent.
  std::vector<std::size_t> matched, recorded_only;
  std::vector<std::size_t> taken_in;  // from the other end: delivered, or assumed lost
  // For a learned capture that was not followed to its end: the items not reached.
  struct NotJudged {
    std::string from;  // the first unjudged frame; empty: all frames were checked
    std::size_t ours = 0, of_ours = 0, theirs = 0, of_theirs = 0;  // unjudged frames, and totals
  } not_judged;
  // The place and reason where the recording continues in a state that a correct device does not
  // have: later items cannot be compared.
  std::optional<std::string> parted;
  std::size_t left_out = 0;  // frames of other services
  std::string left_out_reason;
  bool learned = false;      // no record of its hosts: they may have acted differently
  std::size_t restored = 0;  // requests lost before the recording point and repeated
  std::size_t tags = 0;      // frames whose VLAN or priority tag was removed
  // words that the host must have written between two ATOMICs, if the recording is right
  std::size_t words_set = 0;
  u64 async_compared = 0;           // asynchronous events
  std::vector<std::string> ladder;  // the events in order

  bool same() const { return !difference; }
  // True for a wrong field of an expected frame. If the hosts were not recorded, another order of
  // events is not a breach.
  bool is_breach() const;
};

// Tries all orders that the capture leaves open, until one explains it.
ReplayReport replay(const Capture& capture, End end, const ReplayRunner& runner);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Replays one end of a capture on a model of the HCA. Causal, not timed: a recorded frame or host
// event is delivered when our side has sent and completed everything that stands before it; where
// only a timer can produce what is missing, when that timer fires.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "testbench/host/replay_device.h"
#include "testbench/replay/replay_capture.h"
#include "testbench/replay/replay_compare.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
// The first thing that is not as recorded.
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
  u64 timers_fired = 0, rnr_timers_fired = 0;  // of all, those behind RNR NAKs
  AllowedUses allowed_uses;
  // The order of events and frames.
  OffsetWindow window;
  std::size_t open_pairs = 0, orders = 0, order_taken = 0;
  std::size_t gave_up_after = 0;  // runs, if there are orders that were not tried
  std::int64_t offset = 0;
  std::vector<std::string> taken;  // of the open orders: neighbours in time
  std::optional<Difference> difference;
  // Recorded frames of our end: those that ours were compared with, and those that an allowed
  // difference says are not to be sent.
  std::vector<std::size_t> matched, recorded_only;
  std::vector<std::size_t> taken_in;  // of the other end: delivered, or taken as lost
  // Learned, and not followed to its end: what the model did not come to.
  struct NotJudged {
    std::string from;  // the first such frame; empty: all frames were looked at
    std::size_t ours = 0, of_ours = 0, theirs = 0, of_theirs = 0;  // frames, of so many
  } not_judged;
  // Where and why the recording goes on in another state than a right device is in: what follows
  // cannot be compared.
  std::optional<std::string> parted;
  std::size_t left_out = 0;  // frames, of other services
  std::string left_out_reason;
  bool learned = false;             // no word of its hosts: they may have done otherwise
  std::size_t restored = 0;         // requests lost before the recording point, sent again
  std::size_t tags = 0;             // frames whose VLAN or priority tag was taken off
  std::size_t words_set = 0;        // by the host between two ATOMICs, if the recording is right
  u64 async_compared = 0;           // asynchronous events
  std::vector<std::string> ladder;  // what happened, in order

  bool same() const { return !difference; }
  // Where nobody says what the hosts did, another course of events is no breach: a field of the
  // frame that was due is.
  bool is_breach() const;
};

// All orders that the capture leaves open are tried, until one explains it.
ReplayReport replay(const Capture& capture, End end, const ReplayRunner& runner);
}  // namespace hca::testbench

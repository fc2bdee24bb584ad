// SPDX-License-Identifier: Apache-2.0
// Events and frames of a capture were stamped by two clocks. Their offset is not recorded but
// bounded by causality: a post precedes its first frame, a completion follows the frame that allows
// it. Where the bounds leave the order of an event and a frame open, each order is a timeline.
#pragma once
#include <string>
#include <vector>

#include "testbench/replay_capture.h"

namespace hca::testbench {
struct OffsetWindow {
  std::int64_t low = 0, high = 0;  // event time - frame time, in ns
  bool bounded = false;            // false: no event is tied to a frame
};
OffsetWindow find_offset_window(const Capture& capture);

// A posted send and the PSNs that it takes (G1).
struct SentWork {
  const ReplayEvent* post;
  u32 first_psn, last_psn;
  u32 peer;  // queue pair
};
// Posts that the host's library refuses are none.
std::vector<SentWork> sent_works(const Capture& capture);
// The length of its SGE list.
u64 sge_bytes(const ReplayEvent& post);
// An ATOMIC at an address that is no multiple of 8: the recording host's library refuses it.
bool is_misaligned_atomic(const ReplayEvent& post);

// True if the window leaves the order of this event of `end` and this frame open, and it can
// matter: the device is given one of them, or both.
bool is_order_open(const ReplayEvent& event, const ReplayFrame& frame, End end,
                   const OffsetWindow& window);

// One thing of the recording in its place in time.
struct TimelineItem {
  bool is_frame;
  std::size_t index;  // of Capture::frames or Capture::events
  std::int64_t time;  // ns, of the events' clock
};
struct Timeline {
  std::int64_t offset = 0;
  std::vector<TimelineItem> items;
};

// All orders that the window leaves, the middle of the window first; at most `limit`.
struct Timelines {
  OffsetWindow window;
  std::size_t open_pairs = 0;  // an event of `end` and a frame whose order is open
  std::vector<Timeline> orders;
};
Timelines find_timelines(const Capture& capture, End end, std::size_t limit = 32);
}  // namespace hca::testbench

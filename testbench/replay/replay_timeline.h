// SPDX-License-Identifier: Apache-2.0
// Events and frames of a capture were stamped by two clocks. Their offset is not recorded, but
// causality bounds it: a post precedes its first frame, a completion follows the frame that allows
// it. If the bounds leave the order of an event and a frame open, each order is a timeline.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "model/proto/wire/packet.h"
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
struct OffsetWindow {
  static constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;
  std::int64_t low = -kFar, high = kFar;  // event time - frame time, in ns
  bool one_clock = false;                 // events learned from the frames

  bool has_low() const { return low > -kFar; }
  bool has_high() const { return high < kFar; }
  bool is_known() const { return has_low() && has_high(); }
  bool contradicts_itself() const { return low > high; }
  // The uncertainty of a time between the clocks.
  std::int64_t width() const {
    if (contradicts_itself()) return 0;
    return is_known() ? high - low : kFar;
  }
};
OffsetWindow find_offset_window(const Capture& capture);

// What has the PSNs of a packet at its receiver: the queue pair of its DestQP; of RD the EE context.
inline u32 connection_named_by(const proto::ParsedPacket& packet) {
  const bool of_rd = packet.bth.opcode >> 5 == unsigned(proto::Service::Rd);
  return of_rd ? packet.rdeth.ee_context : packet.bth.dest_qp;
}
// The same of a posted send.
u64 connection_named_by(const ReplayEvent& post);

// A posted send and its PSNs (G1).
struct SentWork {
  const ReplayEvent* post;
  u32 first_psn, last_psn;
  u32 peer;  // connection at the other end
};
// Without the posts that the host's library refuses.
std::vector<SentWork> sent_works(const Capture& capture);
// The length of its SGE list.
u64 sge_bytes(const ReplayEvent& post);
// An ATOMIC whose address is not a multiple of 8: the recorded host's library refuses it.
bool is_misaligned_atomic(const ReplayEvent& post);
// The same, or there is a post_send_failed event.
bool never_reached_device(const ReplayEvent& post);

// True if the window leaves the order of this event of `end` and this frame open, and the order
// matters: the device receives one of them, or both.
bool is_order_open(const ReplayEvent& event, const ReplayFrame& frame, End end,
                   const OffsetWindow& window);

// One item of the recording at its place in time.
struct TimelineItem {
  bool is_frame;
  std::size_t index;  // of Capture::frames or Capture::events
  std::int64_t time;  // ns, of the events' clock

  bool operator==(const TimelineItem& o) const {
    return is_frame == o.is_frame && index == o.index;
  }
};
struct Timeline {
  std::int64_t offset = 0;
  std::vector<TimelineItem> items;
};

// All orders that the window allows. First those that differ for some queue pair, from the middle
// of the window outwards; then those in which an event of one queue pair and a frame of another
// swap places.
struct Timelines {
  OffsetWindow window;
  std::size_t open_pairs = 0;         // pairs of an event of `end` and a frame whose order is open
  std::vector<std::int64_t> offsets;  // one for each order
};
Timelines find_timelines(const Capture& capture, End end);
Timeline make_timeline(const Capture& capture, End end, std::int64_t offset);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_timeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "model/proto/interface/work_rows.h"
#include "model/proto/transport/psn.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/packet.h"
#include "testbench/replay/replay_wr_ids.h"

namespace hca::testbench {
using namespace proto;

namespace {
// What of a frame matters here.
struct Mark {
  const ReplayFrame* frame;
  bool good;
  bool is_request;
  bool refuses;  // NAK or RNR NAK: it acknowledges only what is before its PSN
  bool ends_receive;
  u32 qpn, psn;
};

std::vector<Mark> marks_of(const Capture& capture) {
  std::vector<Mark> marks;
  for (const ReplayFrame& frame : capture.frames) {
    ParsedPacket p;
    const bool good = parse(frame.bytes, frame.link, p) == PacketVerdict::Good;
    const bool refuses = good && p.opcode->operation == Operation::Acknowledge &&
                         syndrome_kind(p.aeth.syndrome) != SyndromeKind::Ack;
    const bool ends_receive =
        good && ends_message(p.opcode->position) &&
        (p.opcode->operation == Operation::Send || request::takes_receive_wqe(*p.opcode));
    marks.push_back({&frame, good, good && p.opcode->is_request, refuses, ends_receive,
                     good ? connection_named_by(p) : 0, good ? p.bth.psn : 0});
  }
  return marks;
}

struct Connection {
  u32 peer = 0, mtu = 0, next_psn = 0;
};
std::int64_t distance(const ReplayEvent& event, const ReplayFrame& frame) {
  return std::int64_t(event.time_ns) - std::int64_t(frame.time_ns);
}

const ReplayFrame* first_frame_of(const SentWork& m, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks)
    if (mark.good && mark.is_request && mark.frame->from == m.post->side && mark.qpn == m.peer &&
        mark.psn == m.first_psn)
      return mark.frame;
  return nullptr;
}

// The first delivered answer that acknowledges the message's last PSN.
const ReplayFrame* answer_to(const SentWork& m, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks)
    if (mark.good && !mark.is_request && mark.frame->from != m.post->side &&
        was_delivered(mark.frame->fate) && mark.qpn == connection_named_by(*m.post) &&
        psn_distance(m.last_psn, mark.psn) >= mark.refuses)
      return mark.frame;
  return nullptr;
}

// The frames that a hand-made end sent, each after its event.
std::int64_t low_of_raw_frames(const Capture& capture, End end) {
  std::int64_t low = -OffsetWindow::kFar;
  std::size_t at = 0;
  for (const ReplayEvent& e : capture.events) {
    if (e.kind != "raw_tx" || e.side != end) continue;
    while (at < capture.frames.size() &&
           !(capture.frames[at].from == end && was_sent(capture.frames[at].fate)))
      ++at;
    if (at < capture.frames.size()) low = std::max(low, distance(e, capture.frames[at++]));
  }
  return low;
}

// What a completion of a send follows: the answer that allows it, or, when it failed, all copies of
// its packets.
const ReplayFrame* cause_of(const ReplayEvent& wc, const SentWork& m,
                            const std::vector<Mark>& marks) {
  if (wc.text("status") == "SUCCESS") return answer_to(m, marks);
  const ReplayFrame* last = nullptr;
  for (const Mark& mark : marks)
    if (mark.good && mark.is_request && mark.frame->from == m.post->side && mark.qpn == m.peer &&
        psns_between(m.first_psn, mark.psn) <= psns_between(m.first_psn, m.last_psn))
      last = mark.frame;
  return last;
}

const ReplayEvent* completion_of(const SentWork& m, WrIdCursor& completions) {
  if (!m.post->number("signaled")) return nullptr;
  return completions.take(m.post->side, "wc", "send", m.post->number("qpn"),
                          m.post->number("wr_id"));
}

// The nth successful receive of a queue pair follows the nth packet that ends a message which takes
// a receive WQE.
std::int64_t high_of_receives(const Capture& capture, const std::vector<Mark>& marks) {
  std::int64_t high = OffsetWindow::kFar;
  std::map<std::pair<End, u64>, std::size_t> next;  // mark to look at
  for (const ReplayEvent& e : capture.events) {
    if (e.kind != "wc" || e.text("queue") != "recv" || e.text("status") != "SUCCESS") continue;
    std::size_t& at = next[{e.side, e.number("qpn")}];
    while (at < marks.size() &&
           !(marks[at].ends_receive && marks[at].frame->from != e.side &&
             was_delivered(marks[at].frame->fate) && marks[at].qpn == e.number("qpn")))
      ++at;
    if (at < marks.size()) high = std::min(high, distance(e, *marks[at++].frame));
  }
  return high;
}

bool is_given(const ReplayEvent& e) {
  return e.kind.starts_with("post_") || e.kind == "mem_set" || e.kind == "destroy_qp" ||
         e.kind == "modify";
}
}  // namespace

u64 connection_named_by(const ReplayEvent& post) {
  return post.number(post.has("eecn") ? "eecn" : "qpn");
}

u64 sge_bytes(const ReplayEvent& post) {
  u64 bytes = 0;
  for (const JsonAt& sge : post.at("sge").entries()) bytes += sge[1].number();
  return bytes;
}

bool never_reached_device(const ReplayEvent& post) {
  return is_misaligned_atomic(post) || post.has("failed");
}

bool is_misaligned_atomic(const ReplayEvent& post) {
  return post.kind == "post_send" && post.text("op").starts_with("ATOMIC") &&
         post.number("remote_addr") % kAtomicBytes;
}

std::vector<SentWork> sent_works(const Capture& capture) {
  std::map<std::pair<End, u64>, Connection> connections;
  std::vector<SentWork> works;
  for (const ReplayEvent& e : capture.events) {
    if (e.kind == "connect")
      connections[{e.side, e.number("qpn")}] = {u32(e.number("dest_qpn")),
                                                u32(e.number("path_mtu")), u32(e.number("sq_psn"))};
    if (e.kind != "post_send" || never_reached_device(e)) continue;
    const auto c = connections.find({e.side, connection_named_by(e)});
    if (c == connections.end()) continue;
    const u32 packets = psns_of(sge_bytes(e), c->second.mtu), first = c->second.next_psn;
    c->second.next_psn = psn_add(first, packets);
    works.push_back({&e, first, psn_add(first, packets - 1), c->second.peer});
  }
  return works;
}

bool is_order_open(const ReplayEvent& event, const ReplayFrame& frame, End end,
                   const OffsetWindow& window) {
  const bool delivered = frame.from != end && was_delivered(frame.fate);
  const bool sent = frame.from == end && was_sent(frame.fate);
  const bool is_told = event.kind == "wc" || event.kind == "async";
  const bool matters = is_given(event) ? delivered || sent : is_told && delivered;
  const std::int64_t d = distance(event, frame);
  return event.side == end && matters && d > window.low && d < window.high;
}

OffsetWindow find_offset_window(const Capture& capture) {
  if (capture.learned) return {0, 0, true};
  const std::vector<Mark> marks = marks_of(capture);
  OffsetWindow window;
  window.low = std::max(low_of_raw_frames(capture, End::A), low_of_raw_frames(capture, End::B));
  WrIdCursor completions(capture);
  for (const SentWork& m : sent_works(capture)) {
    if (const ReplayFrame* frame = first_frame_of(m, marks))
      window.low = std::max(window.low, distance(*m.post, *frame));
    const ReplayEvent* done = completion_of(m, completions);
    if (const ReplayFrame* frame = done ? cause_of(*done, m, marks) : nullptr)
      window.high = std::min(window.high, distance(*done, *frame));
  }
  // Weaker, for it goes wrong by one frame that is missing.
  if (!window.has_high()) window.high = high_of_receives(capture, marks);
  return window;
}

Timeline make_timeline(const Capture& capture, End end, std::int64_t offset) {
  Timeline timeline{offset, {}};
  for (std::size_t i = 0; i < capture.events.size(); ++i)
    if (capture.events[i].side == end)
      timeline.items.push_back({false, i, std::int64_t(capture.events[i].time_ns)});
  for (std::size_t i = 0; i < capture.frames.size(); ++i)
    timeline.items.push_back({true, i, std::int64_t(capture.frames[i].time_ns) + offset});
  std::stable_sort(timeline.items.begin(), timeline.items.end(),
                   [](const TimelineItem& a, const TimelineItem& b) { return a.time < b.time; });
  return timeline;
}

namespace {
// Which queue pair of `end` events and frames belong to.
class Owner {
 public:
  Owner(const Capture& capture, End end) : end_(end) {
    for (const ReplayEvent& e : capture.events)
      if (e.kind == "connect" && e.side == end) of_peer_[e.number("dest_qpn")] = e.number("qpn");
  }
  // True if either may come first and no queue pair shows the order.
  bool differ(const ReplayEvent& e, const Mark& mark) const {
    if (!e.has("qpn") || !mark.good) return false;
    const auto ours = of_peer_.find(mark.qpn);
    if (mark.frame->from == end_ && ours == of_peer_.end()) return false;
    return e.number("qpn") != (mark.frame->from == end_ ? ours->second : mark.qpn);
  }

 private:
  End end_;
  std::map<u64, u64> of_peer_;
};

// One offset of each interval between the crossings that is not in `found` yet, those next to
// `middle` first.
void add_offsets(const std::set<std::int64_t>& crossings, const OffsetWindow& window,
                 std::int64_t middle, std::vector<std::int64_t>& found) {
  std::vector<std::int64_t> others;
  std::set<std::int64_t> known(found.begin(), found.end());
  constexpr std::int64_t kStep = 1000;  // beyond the last crossing, where the window is open
  std::int64_t from = window.low;
  const auto interval = [&](std::int64_t to) {
    const auto inside = known.lower_bound(from);
    if (to > from && (inside == known.end() || *inside >= to))
      others.push_back(from == -OffsetWindow::kFar ? to - kStep
                       : to == OffsetWindow::kFar  ? from + kStep
                                                   : from + (to - from) / 2);
    from = to;
  };
  for (const std::int64_t to : crossings) interval(to);
  interval(window.high);
  std::sort(others.begin(), others.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(a - middle) < std::abs(b - middle);
  });
  found.insert(found.end(), others.begin(), others.end());
}

std::int64_t middle_of(const OffsetWindow& window, const Capture& capture) {
  if (window.is_known()) return window.low + (window.high - window.low) / 2;
  if (window.has_low()) return window.low;
  if (window.has_high()) return window.high;
  // Nothing ties them: events first.
  const bool any = !capture.events.empty() && !capture.frames.empty();
  return any ? distance(capture.events.back(), capture.frames.front()) : 0;
}
}  // namespace

Timelines find_timelines(const Capture& capture, End end) {
  Timelines found{find_offset_window(capture), 0, {}};
  const OffsetWindow& window = found.window;
  found.offsets.push_back(middle_of(window, capture));
  if (!window.has_low() && !window.has_high()) return found;
  const Owner owner(capture, end);
  std::set<std::int64_t> crossings, all;
  for (const Mark& mark : marks_of(capture))
    for (const ReplayEvent& e : capture.events) {
      if (!is_order_open(e, *mark.frame, end, window)) continue;
      ++found.open_pairs;
      all.insert(distance(e, *mark.frame));
      if (!owner.differ(e, mark)) crossings.insert(distance(e, *mark.frame));
    }
  add_offsets(crossings, window, found.offsets[0], found.offsets);
  add_offsets(all, window, found.offsets[0], found.offsets);
  return found;
}
}  // namespace hca::testbench

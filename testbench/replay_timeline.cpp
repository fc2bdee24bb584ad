// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "model/proto/packet.h"
#include "model/proto/psn.h"
#include "model/proto/syndrome.h"
#include "model/proto/work_rows.h"

namespace hca::testbench {
using namespace proto;

namespace {
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

// What of a frame matters here.
struct Mark {
  const ReplayFrame* frame;
  bool good;
  bool is_request;
  bool refuses;  // NAK or RNR NAK: it acknowledges only what is before its PSN
  u32 qpn, psn;
};

std::vector<Mark> marks_of(const Capture& capture) {
  std::vector<Mark> marks;
  for (const ReplayFrame& frame : capture.frames) {
    ParsedPacket p;
    const bool good = parse(frame.bytes, LinkLayer::Ethernet, p) == PacketVerdict::Good;
    const bool refuses = good && p.opcode->operation == Operation::Acknowledge &&
                         syndrome_kind(p.aeth.syndrome) != SyndromeKind::Ack;
    marks.push_back({&frame, good, good && p.opcode->is_request, refuses, good ? p.bth.dest_qp : 0,
                     good ? p.bth.psn : 0});
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
        was_delivered(mark.frame->fate) && mark.qpn == m.post->number("qpn") &&
        psn_distance(m.last_psn, mark.psn) >= mark.refuses)
      return mark.frame;
  return nullptr;
}

// The frames that a hand-made end sent, each behind its event.
std::int64_t low_of_raw_frames(const Capture& capture, End end) {
  std::int64_t low = -kFar;
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

const ReplayEvent* completion_of(const SentWork& m, const Capture& capture) {
  for (const ReplayEvent& e : capture.events)
    if (e.kind == "wc" && e.side == m.post->side && e.text("queue") == "send" &&
        e.text("status") == "SUCCESS" && e.number("qpn") == m.post->number("qpn") &&
        e.number("wr_id") == m.post->number("wr_id"))
      return &e;
  return nullptr;
}

Timeline make_timeline(const Capture& capture, std::int64_t offset) {
  Timeline timeline{offset, {}};
  for (std::size_t i = 0; i < capture.events.size(); ++i)
    timeline.items.push_back({false, i, std::int64_t(capture.events[i].time_ns)});
  for (std::size_t i = 0; i < capture.frames.size(); ++i)
    timeline.items.push_back({true, i, std::int64_t(capture.frames[i].time_ns) + offset});
  std::stable_sort(timeline.items.begin(), timeline.items.end(),
                   [](const TimelineItem& a, const TimelineItem& b) { return a.time < b.time; });
  return timeline;
}

bool is_given(const ReplayEvent& e) {
  return e.kind.starts_with("post_") || e.kind == "mem_set" || e.kind == "destroy_qp";
}
}  // namespace

u64 sge_bytes(const ReplayEvent& post) {
  u64 bytes = 0;
  for (const JsonAt& sge : post.at("sge").entries()) bytes += sge[1].number();
  return bytes;
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
    if (e.kind != "post_send" || is_misaligned_atomic(e)) continue;
    const auto c = connections.find({e.side, e.number("qpn")});
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
  std::int64_t low =
      std::max(low_of_raw_frames(capture, End::A), low_of_raw_frames(capture, End::B));
  std::int64_t high = kFar;
  for (const SentWork& m : sent_works(capture)) {
    if (const ReplayFrame* frame = first_frame_of(m, marks))
      low = std::max(low, distance(*m.post, *frame));
    const ReplayEvent* done = completion_of(m, capture);
    if (const ReplayFrame* frame = done ? answer_to(m, marks) : nullptr)
      high = std::min(high, distance(*done, *frame));
  }
  if (low == -kFar && high == kFar) {  // nothing ties them: events first
    const bool any = !capture.events.empty() && !capture.frames.empty();
    low = high = any ? distance(capture.events.back(), capture.frames.front()) : 0;
    return {low, high, false};
  }
  if (low == -kFar) low = high;
  if (high == kFar) high = low;
  return {low, high, true};
}

Timelines find_timelines(const Capture& capture, End end, std::size_t limit) {
  Timelines found{find_offset_window(capture), 0, {}};
  const std::int64_t low = found.window.low, high = found.window.high;
  std::set<std::int64_t> crossings;
  for (const ReplayEvent& e : capture.events)
    for (const ReplayFrame& f : capture.frames)
      if (is_order_open(e, f, end, found.window))
        crossings.insert(distance(e, f)), ++found.open_pairs;
  // One offset of each interval between crossings; those next to the middle first.
  std::vector<std::int64_t> offsets{low + (high - low) / 2};
  std::int64_t from = low;
  crossings.insert(high);
  std::vector<std::int64_t> others;
  for (const std::int64_t to : crossings) {
    if (!(offsets[0] >= from && offsets[0] < to) && to > from) others.push_back((from + to) / 2);
    from = to;
  }
  std::sort(others.begin(), others.end(), [&](std::int64_t a, std::int64_t b) {
    return std::abs(a - offsets[0]) < std::abs(b - offsets[0]);
  });
  offsets.insert(offsets.end(), others.begin(), others.end());
  for (const std::int64_t offset : offsets)
    if (found.orders.size() < limit) found.orders.push_back(make_timeline(capture, offset));
  return found;
}
}  // namespace hca::testbench

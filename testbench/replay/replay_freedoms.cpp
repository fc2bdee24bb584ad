// SPDX-License-Identifier: Apache-2.0
// Conditions of what statements leave open, in every capture.
#include <algorithm>

#include "model/proto/transport/responder_rules.h"
#include "testbench/replay/replay_compare.h"
#include "testbench/replay/replay_conditions.h"

namespace hca::testbench::conditions {
using namespace proto;

namespace {
// The bytes after the BTH and its own fields except AckReq, as in G1.3 for a copy.
bool is_copy_of(const Seen& again, const Seen& first, const QpHistory& qp) {
  AllowedUses uses;
  return compare_frames(again, first, &qp, uses).empty();
}
}  // namespace

bool counted_down(const Situation& s) {
  return s.recorded_value && s.recorded_value <= s.our_value;
}
bool both_vcrcs_good(const Situation& s) {
  return vcrc_good(s.recorded->bytes, s.recorded->packet) &&
         vcrc_good(s.ours->bytes, s.ours->packet);
}
bool pads_ethernet(const Situation& s) { return !is_native(s.ours->packet.framing); }
bool any_value(const Situation&) { return true; }
// parse() has summed it up.
bool sums_up_or_is_zero(const Situation& s) { return s.recorded->form == PacketVerdict::Good; }
bool may_ask_seldom(const Situation& s) {
  return s.recorded->is_request() && is_reliable(s.recorded->packet.opcode->service);
}
bool congested_on_the_way(const Situation& s) { return s.recorded_value && !s.our_value; }

bool merged_ack(const Situation& s) {
  if (!s.ours->is_ack() || s.next_frame == Situation::kNone) return false;
  const auto& frames = s.qp->capture.frames;
  for (std::size_t i = s.next_frame; i < frames.size(); ++i) {
    if (frames[i].from != s.qp->end || !was_sent(frames[i].fate)) continue;
    const Seen later(frames[i]);
    if (!later.is_response() ||
        connection_named_by(later.packet) != connection_named_by(s.ours->packet))
      continue;
    const s32 ahead = psn_distance(s.ours->psn(), later.psn());
    if (ahead == 0 && later.is_ack()) return false;  // it is there
    if (ahead > 0) return true;
  }
  return false;
}
// G6.1: an ACK promises no more than there are receives, as far as they are known.
bool promises_no_more(const QpHistory& qp, u8 syndrome) {
  return syndrome == kCreditsUnused || qp.capture.learned ||
         credits_of(syndrome) <= qp.receives.size();
}
bool unasked_ack(const Situation& s) {
  const Seen& ack = *s.recorded;
  if (!ack.is_ack() || !is_reliable(ack.packet.opcode->service) ||
      !promises_no_more(*s.qp, syndrome_value(ack.packet.aeth.syndrome)))
    return false;
  const auto msn = s.qp->msn_after.find(ack.psn());
  if (msn == s.qp->msn_after.end() || msn->second.msn != ack.packet.aeth.msn) return false;
  const Seen right(build_answer(*s.qp, ack.psn(), ack.packet.aeth.syndrome, msn->second.msn), 0,
                   s.qp->capture.link);
  if (!is_copy_of(ack, right, *s.qp)) return false;
  const auto& newest = s.qp->newest_answer;
  const s32 ahead = newest ? psn_distance(newest->psn(), ack.psn()) : 1;
  // Where the request requires an ACK, ours is sent too, if it is not merged into a later one.
  const bool ours_is_later =
      s.ours && s.ours->is_response() && psn_distance(ack.psn(), s.ours->psn()) > 0;
  if (ahead > 0)
    return (!msn->second.asks || ours_is_later) && !s.qp->read_at(ack.psn()) &&
           !s.qp->awaits_response(ack.psn());
  // G6.6: the last one again, with other credits.
  return ahead == 0 && syndrome_value(ack.packet.aeth.syndrome) != kCreditsUnused &&
         ack.packet.aeth.syndrome != newest->packet.aeth.syndrome;
}

bool sent_again_later(const Situation& s) {
  if (!s.qp->capture.learned || !s.ours->is_request()) return false;
  const auto before = s.qp->sent.find(s.ours->psn());
  if (before != s.qp->sent.end()) return is_copy_of(*s.ours, before->second.frame, *s.qp);
  const SentWork* work = s.qp->work_at(s.ours->psn());  // a part of a READ
  return work && s.ours->is(Operation::ReadRequest) && s.qp->sent.contains(work->first_psn);
}
bool sent_again_by_timer(const Situation& s) {
  if (!s.qp->capture.learned || !s.recorded->is_request()) return false;
  const auto before = s.qp->sent.find(s.recorded->psn());
  if (before != s.qp->sent.end()) return is_copy_of(*s.recorded, before->second.frame, *s.qp);
  const SentWork* work = s.qp->work_at(s.recorded->psn());
  return work && s.recorded->is(Operation::ReadRequest) && s.qp->sent.contains(work->first_psn);
}

bool doubled_on_the_way(const Situation& s) {
  const Capture& capture = s.qp->capture;
  if (!capture.learned) return false;
  const auto begin = capture.frames.begin(), end = begin + std::ptrdiff_t(s.frame_index);
  return std::any_of(begin, end, [&](const ReplayFrame& frame) {
    return frame.from == s.qp->end && frame.bytes == s.recorded->bytes;
  });
}
bool lost_before_recording(const Situation& s) {
  const Capture& capture = s.qp->capture;
  const bool is_response =
      s.ours->is(Operation::ReadResponse) || s.ours->is(Operation::AtomicAcknowledge);
  if (!capture.learned || capture.complete || !is_response || s.next_frame == Situation::kNone)
    return false;
  for (std::size_t i = s.next_frame; i < capture.frames.size(); ++i) {
    const Seen later(capture.frames[i]);
    if (capture.frames[i].from == s.qp->end && later.is_response() &&
        connection_named_by(later.packet) == connection_named_by(s.ours->packet))
      return psn_distance(s.ours->psn(), later.psn()) > 0;
  }
  return false;
}

bool failed_post(const Situation& s) { return s.post->has("failed"); }
}  // namespace hca::testbench::conditions

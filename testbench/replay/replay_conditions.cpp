// SPDX-License-Identifier: Apache-2.0
// Conditions on frames. Those on completions are in replay_completion_conditions.cpp.
#include "testbench/replay/replay_conditions.h"

#include <algorithm>

#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/timeout.h"
#include "model/proto/wire/ip_checksum.h"
#include "testbench/replay/replay_compare.h"

namespace hca::testbench::conditions {
using namespace proto;

namespace {
constexpr u8 kNoCredits = ack_syndrome(kCreditsUnused);
constexpr u8 kInvalidRequest = nak_syndrome(NakCode::InvalidRequest);
constexpr u8 kSequenceError = nak_syndrome(NakCode::PsnSequenceError);

Ipv4 ipv4_of(const Seen& s) { return decode<Ipv4>(s.bytes.data() + s.packet.network_offset); }
bool sums_up(const Seen& s) { return ipv4_checksum_good(s.bytes.data() + s.packet.network_offset); }

// As a recording and a frame of ours are compared.
bool equal(const Seen& recorded, const Seen& ours, const QpHistory& qp) {
  AllowedUses uses;
  uses.profile = qp.capture.profile;
  return compare_frames(recorded, ours, &qp, uses).empty();
}
bool is_answer(const Seen& frame, const QpHistory& qp, u32 psn, u8 syndrome, u32 msn) {
  return equal(frame, Seen(build_answer(qp, psn, syndrome, msn), 0, qp.capture.link), qp);
}
u32 mtu_of(const QpHistory& qp) { return u32(qp.connect.number("path_mtu")); }
bool is_duplicate(const QpHistory& qp) {
  return !qp.executed && psn_distance(qp.responder.epsn, qp.request.psn()) < 0;
}
const QpHistory::Sent* sent_before(const Situation& s, const Seen& frame) {
  const auto found = s.qp->sent.find(frame.psn());
  return found == s.qp->sent.end() ? nullptr : &found->second;
}
Position position_in(u32 index, u32 packets) {
  if (index == 0) return packets == 1 ? Position::Only : Position::First;
  return index + 1 == packets ? Position::Last : Position::Middle;
}
bool takes_credit(const SentWork& work) {
  const std::string op = work.post->text("op");
  return op.starts_with("SEND") || op == "RDMA_WRITE_WITH_IMM";
}
}  // namespace

// ---- Fields that are the sender's own
bool whole_datagrams(const Situation& s) {
  const auto whole = [](const Ipv4& ip) { return ip.dont_fragment && !ip.fragment_offset; };
  return whole(ipv4_of(*s.recorded)) && whole(ipv4_of(*s.ours));
}
bool both_checksums_right(const Situation& s) { return sums_up(*s.recorded) && sums_up(*s.ours); }
bool dynamic_ports(const Situation&) { return true; }
bool connected_migrated(const Situation& s) {
  return includes(kExecuted, s.ours->packet.opcode->service);
}
bool sends_controlled_qkey(const Situation& s) {
  const SentWork* work = s.qp ? s.qp->work_at(s.recorded->psn()) : nullptr;
  return work && qkey_is_controlled(u32(s.recorded_value)) && s.qp->connect.has("qkey") &&
         s.recorded_value == work->post->number("remote_qkey") &&
         s.our_value == s.qp->connect.number("qkey");
}
bool ack_without_credits(const Situation& s) {
  const auto is_ack = [](u64 syndrome) {
    return syndrome <= 0xff && syndrome_kind(u8(syndrome)) == SyndromeKind::Ack;
  };
  const bool unknown = s.recorded_value == kNoCredits || (s.qp && s.qp->capture.learned);
  const bool fewer = s.recorded_value < s.our_value && s.our_value != kNoCredits;
  return is_ack(s.recorded_value) && is_ack(s.our_value) && (unknown || fewer);
}
bool both_icrcs_good(const Situation& s) { return s.recorded->good && s.ours->good; }
bool hop_limit_of_route(const Situation& s) {
  constexpr u64 of_route = 64;
  return s.qp && !s.qp->capture.learned && s.recorded_value == of_route &&
         s.our_value == s.qp->connect.number("hop_limit");
}
bool no_flow_label(const Situation& s) {
  return s.qp && !s.qp->capture.learned && !s.recorded_value &&
         s.our_value == s.qp->connect.number("flow_label");
}

// ---- Fields of answers
// A READ is requested again from after its first packet: the recorded responses are positioned as
// in the whole READ, ours as in the part (G3.3).
bool resumes_read_in_place(const Situation& s) {
  const auto is_response = [](const Seen& f) {
    return f.is(Operation::ReadResponse) && is_reliable(f.packet.opcode->service);
  };
  if (!s.qp || !is_response(*s.recorded) || !is_response(*s.ours)) return false;
  const Seen& asked = s.qp->request;
  const u32 psn = s.ours->psn();
  if (!asked.is(Operation::ReadRequest) || !is_duplicate(*s.qp) || s.recorded->psn() != psn)
    return false;
  const QpHistory::Read* read = s.qp->read_at(asked.psn());
  if (!read || read->first_psn == asked.psn()) return false;
  const u32 packets = psns_of(asked.packet.reth.dma_len, mtu_of(*s.qp)),
            index = psns_between(asked.psn(), psn);
  if (index >= packets || s.ours->packet.opcode->position != position_in(index, packets))
    return false;
  const Position recorded = s.recorded->packet.opcode->position;
  if (index + 1 < packets) return recorded == Position::Middle;
  const bool ends_whole = psns_between(read->first_psn, psn) + 1 == read->packets;
  return recorded == Position::Last || (!ends_whole && recorded == Position::Middle);
}
bool lacks_aeth_of_resumed_read(const Situation& s) {
  return resumes_read_in_place(s) && s.ours->packet.has(Ext::Aeth) &&
         !s.recorded->packet.has(Ext::Aeth);
}
bool longer_by_aeth_of_resumed_read(const Situation& s) {
  return lacks_aeth_of_resumed_read(s) && s.our_value == s.recorded_value + bytes_of<Aeth>();
}
// A READ does not count as newest there; before the first packet it is 0xffffff.
bool acknowledges_newest_write(const Situation& s) {
  return s.qp && s.recorded->is_ack() && s.ours->is_ack() && is_duplicate(*s.qp) &&
         s.our_value == psn_sub(s.qp->responder.epsn, 1) &&
         s.recorded_value == s.qp->responder.newest;
}
bool nak_of_too_long_send(const Situation& s) {
  if (!s.qp || s.recorded_value != nak_syndrome(NakCode::RemoteOperationalError) ||
      s.our_value != kInvalidRequest || !s.qp->request.is(Operation::Send))
    return false;
  const ReplayEvent* receive = s.qp->receive_in_use();
  return receive && s.qp->attempted.send_bytes > sge_bytes(*receive);
}
bool nak_of_too_long_read(const Situation& s) {
  return s.qp && s.recorded_value == nak_syndrome(NakCode::RemoteAccessError) &&
         s.our_value == kInvalidRequest && s.qp->request.is(Operation::ReadRequest) &&
         s.qp->request.packet.reth.dma_len > kMaxMessageBytes;
}

// ---- Frames that only the recording has
// One for each RNR NAK, when a packet follows it.
bool sequence_nak_behind_rnr_nak(const Situation& s) {
  const Seen& rnr = s.qp->our_answer;
  return rnr.is_rnr_nak() && s.qp->passed.empty() && s.qp->request.good &&
         psn_distance(s.qp->responder.epsn, s.qp->request.psn()) > 0 &&
         is_answer(*s.recorded, *s.qp, rnr.psn(), kSequenceError, rnr.packet.aeth.msn);
}
// Each acknowledged packet of the message once more, in order, before those that the RNR NAK
// requests.
bool back_to_first_packet(const Situation& s) {
  if (!s.qp->rnr_nak || !s.recorded->is_request()) return false;
  const SentWork* work = s.qp->work_at(s.qp->rnr_nak->psn());
  const QpHistory::Sent* before = sent_before(s, *s.recorded);
  if (!work || !before) return false;
  const u32 next = psn_add(work->first_psn, u32(s.qp->passed.size()));
  return s.recorded->psn() == next && psn_distance(next, s.qp->rnr_nak->psn()) > 0 &&
         equal(*s.recorded, before->frame, *s.qp);
}
// Its transport timer runs since the first copy.
bool copy_by_timer_behind_rnr_nak(const Situation& s) {
  constexpr std::int64_t tick = 4'000'000;
  if (!s.qp->rnr_nak || !s.recorded->is_request()) return false;
  const QpHistory::Sent* before = sent_before(s, *s.recorded);
  const u32 psn = s.recorded->psn();
  const std::int64_t timeout = std::int64_t(ack_timeout_ns(u8(s.qp->connect.number("timeout"))));
  return before && timeout && psn_distance(s.qp->rnr_nak->psn(), psn) >= 0 &&
         std::ranges::count(s.qp->passed, psn) == 0 &&
         s.recorded->time - before->first_time >= timeout - tick &&
         equal(*s.recorded, before->frame, *s.qp);
}
bool ack_of_bad_invalidate(const Situation& s) {
  const Seen& asked = s.qp->request;
  if (!asked.good || !asked.packet.has(Ext::Ieth) || !s.qp->executed) return false;
  const auto& events = s.qp->capture.events;
  const bool known = std::ranges::any_of(events, [&](const ReplayEvent& e) {
    return e.kind == "mr" && e.side == s.qp->end && e.number("rkey") == asked.packet.ieth.rkey;
  });
  return !known && s.qp->our_answer.psn() != asked.psn() &&
         is_answer(*s.recorded, *s.qp, asked.psn(), kNoCredits, 0);
}
// G5.3: the message counts, whatever happens to its key.
bool msn_of_bad_invalidate(const Situation& s) {
  if (!s.qp || !s.recorded->is_ack() || s.recorded_value) return false;
  const Seen& asked = s.qp->request;
  return asked.good && asked.packet.has(Ext::Ieth) && asked.psn() == s.recorded->psn();
}
// The packet that comes is in `recorded`; the one before it is the last request.
bool breaks_uc_message(const Situation& s) {
  const Seen& before = s.qp->request;
  if (!s.recorded->is_request() || s.recorded->packet.opcode->service != Service::Uc ||
      !before.good)
    return false;
  const s32 ahead = psn_distance(s.qp->responder.epsn, s.recorded->psn());
  return ahead < 0 || (ahead > 0 && !ends_message(before.packet.opcode->position));
}
bool ack_of_broken_words(const Situation& s) {
  const Seen& asked = s.qp->last;
  const u32 bytes = asked.packet.icrc_offset - asked.packet.transport_offset;
  if (asked.form != PacketVerdict::BadLength || bytes % 4 == 0 || !asked.packet.opcode)
    return false;
  const u32 msn = s.qp->responder.msn + ends_message(asked.packet.opcode->position);
  return asked.packet.bth.psn == s.qp->responder.epsn &&
         is_answer(*s.recorded, *s.qp, asked.packet.bth.psn, kNoCredits, msn);
}
// G6.3: more than one message beyond the advertised limit.
bool send_beyond_credits(const Situation& s) {
  if (!s.recorded->is_request() || s.qp->credits.credit != Credit::Limited) return false;
  const SentWork* work = s.qp->work_at(s.recorded->psn());
  if (!work || !takes_credit(*work)) return false;
  const u32 ssn = u32(work - s.qp->works.data()) + 1, msn = s.qp->answer.packet.aeth.msn;
  u32 limit = s.qp->credits.limit_ssn + 1;
  for (u32 i = msn; i + 1 < ssn; ++i) limit += !takes_credit(s.qp->works[i]);
  return ssn > limit;
}

// ---- Frames that only we have
bool nak_of_bad_send_length(const Situation& s) {
  const Seen& asked = s.qp->request;
  if (!asked.is(Operation::Send) || !s.qp->executed) return false;
  const u32 bytes = asked.packet.payload_bytes, mtu = mtu_of(*s.qp);
  const PayloadRule rule = asked.packet.opcode->payload;
  const bool legal = rule == PayloadRule::FullMtu
                         ? bytes == mtu
                         : bytes <= mtu && (bytes || rule != PayloadRule::OneToMtu);
  return !legal && is_answer(*s.ours, *s.qp, asked.psn(), kInvalidRequest, s.qp->before.msn);
}
// Outside the window that was bound last to its R_Key, inside the window's region.
bool nak_of_window_bounds(const Situation& s) {
  const Seen& asked = s.qp->request;
  if (!asked.good || !asked.packet.has(Ext::Reth)) return false;
  const Reth& reth = asked.packet.reth;
  const auto holds = [&](u64 start, u64 bytes) {
    return reth.va >= start && reth.va - start <= bytes &&
           reth.dma_len <= bytes - (reth.va - start);
  };
  const ReplayEvent *bind = nullptr, *region = nullptr;
  for (const ReplayEvent& e : s.qp->capture.events)
    if (e.side == s.qp->end && e.has("mw_rkey_new") && e.number("mw_rkey_new") == reth.rkey)
      bind = &e;
  if (!bind || holds(bind->number("bind_addr"), bind->number("bind_len"))) return false;
  for (const ReplayEvent& e : s.qp->capture.events)
    if (e.kind == "mr" && e.side == s.qp->end && e.number("lkey") == bind->number("mr_lkey"))
      region = &e;
  return region && holds(region->number("addr"), region->number("len")) &&
         is_answer(*s.ours, *s.qp, asked.psn(), nak_syndrome(NakCode::RemoteAccessError),
                   s.qp->before.msn);
}
bool nak_of_reserved_opcode(const Situation& s) {
  const Seen& asked = s.qp->last;
  return asked.form == PacketVerdict::ReservedOpcode &&
         asked.packet.bth.opcode >> 5 == unsigned(Service::Rc) &&
         asked.packet.bth.psn == s.qp->responder.epsn &&
         is_answer(*s.ours, *s.qp, asked.packet.bth.psn, kInvalidRequest, s.qp->responder.msn);
}
bool response_to_read_further_back(const Situation& s) {
  const Seen& asked = s.qp->request;
  if (!s.qp->reads_back || !s.ours->is(Operation::ReadResponse)) return false;
  const u32 packets = psns_of(asked.packet.reth.dma_len, mtu_of(*s.qp)),
            index = psns_between(asked.psn(), s.ours->psn());
  return index < packets && s.ours->packet.opcode->position == position_in(index, packets) &&
         (!s.ours->packet.has(Ext::Aeth) || s.ours->packet.aeth.msn == s.qp->responder.msn);
}
bool second_go_back(const Situation& s) {
  const QpHistory::Sent* before = sent_before(s, *s.ours);
  return s.qp->goes_back_again && s.ours->is_request() && before &&
         psn_distance(s.qp->answer.psn(), s.ours->psn()) >= 0 &&
         equal(before->frame, *s.ours, *s.qp);
}
bool notifies_of_congestion(const Situation& s) {
  const Seen &marked = s.qp->last, &cnp = *s.ours;
  const u8 ecn = marked.good ? traffic_class_of(marked.bytes.data(), marked.packet) & kEcnMask : 0;
  return ecn == kEcnCongestionExperienced && cnp.good &&
         cnp.packet.opcode->service == Service::Cnp && cnp.packet.bth.becn && !cnp.psn();
}
// G6.6: after "no credits", the same PSN and MSN again with credits.
bool credits_behind_none(const Situation& s) {
  const ToldCredits& told = s.qp->told;
  const Seen& ack = *s.ours;
  return ack.good && ack.is_ack() && told.any && told.syndrome == ack_syndrome(0) &&
         ack.psn() == told.psn && ack.packet.aeth.msn == told.msn && ack.packet.aeth.syndrome &&
         ack.packet.aeth.syndrome != kNoCredits;
}
bool answer_behind_recording(const Situation& s) { return s.is_cut && s.ours->is_response(); }
bool refused_by_library(const Situation& s) { return is_misaligned_atomic(*s.post); }
bool never_came(const Situation& s) { return was_lost_behind_wire(*s.qp, s.frame_index); }
}  // namespace hca::testbench::conditions

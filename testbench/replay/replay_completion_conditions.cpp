// SPDX-License-Identifier: Apache-2.0
// Conditions on completions and on memory. `recorded_value` and `our_value` are statuses.
#include <algorithm>

#include "model/proto/transport/response_rules.h"
#include "testbench/replay/replay_async.h"
#include "testbench/replay/replay_conditions.h"

namespace hca::testbench::conditions {
using namespace proto;

namespace {
bool reads(const SentWork& work) {
  const std::string op = work.post->text("op");
  return op == "RDMA_READ" || op.starts_with("ATOMIC");
}
bool statuses(const Situation& s, WcStatus recorded, WcStatus ours) {
  return WcStatus(s.recorded_value) == recorded && WcStatus(s.our_value) == ours;
}
bool receives(const Situation& s) { return s.post->kind != "post_send"; }
// How many bytes more, or less than 0, the last READ response has than are due.
std::int64_t surplus(const Situation& s) {
  const Seen& got = s.qp->answer;
  const SentWork* work = got.is(Operation::ReadResponse) ? s.qp->work_at(got.psn()) : nullptr;
  if (!work || work->post != s.post || s.post->text("op") != "RDMA_READ") return 0;
  const Position at = got.packet.opcode->position;
  if (at != Position::Last && at != Position::Only) return 0;
  const u64 offset =
      u64{psns_between(work->first_psn, got.psn())} * s.qp->connect.number("path_mtu");
  return std::int64_t(got.packet.payload_bytes) - std::int64_t(sge_bytes(*s.post) - offset);
}
}  // namespace

bool too_long_for_receive(const Situation& s) {
  return statuses(s, WcStatus::LocQpOpErr, WcStatus::LocLenErr) && receives(s) &&
         s.post == s.qp->receive_in_use() && s.qp->attempted.send_bytes > sge_bytes(*s.post);
}
bool error_after_long_datagram(const Situation& s) {
  const ReplayEvent* post = s.qp && s.qp->connect.has("qkey") ? s.qp->receive_in_use() : nullptr;
  return post && s.qp->attempted.send_bytes > sge_bytes(*post);
}
bool bad_local_key(const Situation& s) {
  const bool written =
      receives(s) || s.post->text("op") == "RDMA_READ" || s.post->text("op").starts_with("ATOMIC");
  return statuses(s, WcStatus::LocQpOpErr, WcStatus::LocProtErr) &&
         breaks_protection(s.qp->capture, *s.post, written ? "LW" : "");
}
bool read_refused_midway(const Situation& s) {
  const Seen& got = s.qp->answer;
  if (WcStatus(s.recorded_value) != WcStatus::Success || !got.is(Operation::Acknowledge) ||
      syndrome_kind(got.packet.aeth.syndrome) != SyndromeKind::Nak)
    return false;
  const SentWork* work = s.qp->work_at(got.psn());
  const NakCode code = NakCode(syndrome_value(got.packet.aeth.syndrome));
  return work && work->post == s.post && s.post->kind == "post_send" &&
         s.post->text("op") == "RDMA_READ" && got.psn() != work->first_psn &&
         code != NakCode::PsnSequenceError && WcStatus(s.our_value) == status_of_nak(code);
}
bool response_too_long(const Situation& s) {
  return statuses(s, WcStatus::LocProtErr, WcStatus::LocLenErr) && !receives(s) && surplus(s) > 0;
}
bool invalid_rd_request(const Situation& s) {
  return statuses(s, WcStatus::RemOpErr, WcStatus::RemInvRdReqErr) &&
         s.qp->answer.is_nak(NakCode::InvalidRdRequest);
}
bool refused_key_of_immediate(const Situation& s) {
  return statuses(s, WcStatus::RemAccessErr, WcStatus::LocAccessErr) && receives(s) &&
         s.qp->request.is(Operation::Write) && s.qp->request.packet.has(Ext::ImmDt) &&
         s.qp->our_answer.is_nak(NakCode::RemoteAccessError);
}
bool refused_length_of_immediate(const Situation& s) {
  return statuses(s, WcStatus::RemInvReqErr, WcStatus::LocLenErr) && receives(s) &&
         s.qp->request.is(Operation::Write) && s.qp->request.packet.has(Ext::ImmDt) &&
         s.qp->our_answer.is_nak(NakCode::InvalidRequest);
}

bool response_too_short(const Situation& s) {
  return s.our_wc->status == WcStatus::LocLenErr && !receives(s) && surplus(s) < 0;
}
bool completed_by_plain_ack(const Situation& s) {
  const Seen& got = s.qp->answer;
  if (s.recorded_wc->text("status") != "SUCCESS" || !got.is_ack()) return false;
  const SentWork* work = s.qp->work_at(got.psn());
  return work && reads(*work);
}
bool reserved_nak_code(const Situation& s) {
  const Seen& got = s.qp->answer;
  return s.recorded_wc->text("status") == "REM_OP_ERR" && got.is(Operation::Acknowledge) &&
         syndrome_kind(got.packet.aeth.syndrome) == SyndromeKind::Nak &&
         syndrome_value(got.packet.aeth.syndrome) > u8(NakCode::InvalidRdRequest);
}

bool completion_of_bind(const Situation& s) {
  const ReplayEvent& wc = *s.recorded_wc;
  return wc.text("queue") == "send" && wc.text("status") == "SUCCESS" &&
         wc.text("opcode") == "BIND_MW" &&
         std::ranges::any_of(s.qp->capture.events, [&](const ReplayEvent& e) {
           return e.kind == "bind_mw" && e.side == wc.side && e.has("wr_id") &&
                  e.number("wr_id") == wc.number("wr_id");
         });
}
bool vendor_code_of_error(const Situation& s) {
  return s.recorded_wc->text("status") != "SUCCESS" && s.our_value == 0;
}

bool refused_without_receive(const Situation& s) {
  const Seen& nak = s.qp->our_answer;
  return (s.our_async->type == EventType::QpAccessErr && nak.is_nak(NakCode::RemoteAccessError)) ||
         (s.our_async->type == EventType::QpReqErr && nak.is_nak(NakCode::InvalidRequest));
}
bool event_of_no_queue(const Situation& s) { return is_of_no_queue(*s.recorded_async); }

bool counts_datagrams(const Situation& s) {
  return s.qp && s.qp->connect.has("qkey") && !s.our_value &&
         s.recorded_value == s.qp->responder.epsn;
}
bool lost_in_receiver(const Situation& s) {
  const Seen& last = s.qp->request;
  if (!last.good || last.packet.opcode->service != Service::Uc) return false;
  const u32 recorded = u32(s.recorded_state->number("rq_psn"));
  return psn_distance(u32(s.our_value), recorded) < 0 &&
         psn_distance(u32(s.qp->connect.number("rq_psn")), recorded) >= 0;
}

bool in_failed_receive(const Situation& s) {
  const std::vector<JsonAt> sges = s.post->at("sge").entries();
  return receives(s) && std::any_of(sges.begin(), sges.end(), [&](const auto& sge) {
           return s.our_value >= sge[0].number() && s.our_value - sge[0].number() < sge[1].number();
         });
}
}  // namespace hca::testbench::conditions

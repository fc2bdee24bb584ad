// SPDX-License-Identifier: Apache-2.0
// The effect of a response or a timer on the send state (G11, G12, T5, T7, T9).
#pragma once
#include "model/proto/transport/recovery.h"
#include "model/proto/transport/requester_rules.h"
#include "model/proto/transport/syndrome.h"
#include "model/proto/transport/timeout.h"

namespace hca::proto {
enum class AckAction : u8 {
  Drop,      // class E: ghost, or a reserved syndrome
  Credits,   // class E, but its credits count (C9-217)
  Progress,  // all before `psn` is acknowledged
  Resend,    // the same, then go back to `psn` (class A)
  Migrate,   // the same on the alternate path, with new retries (o9-152)
  Wait,      // the same, then resend from `psn` after the RNR time (class A)
  Fail,      // the same, then the WQE that holds `psn` fails with `status` (class B)
};
struct AckVerdict {
  AckAction action;
  u32 psn;
  WcStatus status;
  u8 rnr_code;
  std::string_view statement;
  bool by_timer = false;
  bool implied = false;    // an implied NAK: a response is missing (G12.3, G12.4)
  bool selective = false;  // the responder keeps a packet after the missing one (recovery.h)
};
// For a READ or ATOMIC response; its data go to the message's buffers at `offset` if `places`.
struct ResponseVerdict : AckVerdict {
  bool places = false;
  bool completes = false;  // it is the last of its message
  u32 offset = 0;
};

inline WcStatus status_of_nak(NakCode code) {
  switch (NakCode(u8(code))) {
    case NakCode::InvalidRequest:
      return WcStatus::RemInvReqErr;
    case NakCode::RemoteAccessError:
      return WcStatus::RemAccessErr;
    case NakCode::InvalidRdRequest:
      return WcStatus::RemInvRdReqErr;
    default:
      return WcStatus::RemOpErr;
  }
}

namespace response {
constexpr AckVerdict drop(std::string_view why) { return {AckAction::Drop, 0, {}, 0, why}; }
inline AckVerdict fail(u32 psn, WcStatus status, std::string_view why) {
  return {AckAction::Fail, psn, status, 0, why};
}
// T5-23: 7 means unlimited retries.
inline bool counts_rnr(const QpConfig& qp) { return qp.rnr_retry != kRnrRetryForever; }
// T5: NAK codes without a meaning for a requester.
inline bool is_reserved_nak(u8 code, ReservedNak option) {
  if (option == ReservedNak::Fail) return code == u8(NakCode::OperationInProgress);
  return code > u8(NakCode::InvalidRdRequest);
}
inline bool awaits_response(const SendState& s) { return s.reads_started != s.reads_answered; }
// The first PSN of `m` (the oldest unanswered READ or ATOMIC) whose response is missing.
inline u32 missing_psn(const SendState& s, const SentMessage& m) {
  return psn_distance(m.first_psn, s.unacked_psn) > 0 ? s.unacked_psn : m.first_psn;
}
// True if a NAK of `psn` finds no retry left; an acknowledgement by it reloads the counter (G11.6).
inline bool is_exhausted(const SendState& s, const QpConfig& qp, u32 psn) {
  const bool progress = psn != s.unacked_psn;
  return !(progress ? qp.retry_count : s.retries_left);
}
// G12.3, G12.4: once, until the restarted PSN is answered.
inline AckVerdict implied_nak(const SendState& s, const QpConfig& qp, u32 missing,
                              std::string_view why) {
  if (s.waits_restart) return drop("G12.4");
  if (is_exhausted(s, qp, missing))
    return {AckAction::Fail, missing, WcStatus::RetryExcErr, 0, "T9-4", false, true};
  return {AckAction::Resend, missing, {}, 0, why, false, true};
}
}  // namespace response

// An Acknowledge packet. `awaited`: the oldest unanswered READ or ATOMIC, if there is one.
inline AckVerdict judge_ack(const SendState& s, const QpConfig& qp, const SentMessage* awaited,
                            u32 psn, u8 syndrome, u32 payload_bytes) {
  using namespace response;
  const u8 value = syndrome_value(syndrome);
  const SyndromeKind kind = syndrome_kind(syndrome);
  if (!s.is_outstanding(psn)) {
    const bool newest = s.is_newest_acked(psn) && kind == SyndromeKind::Ack;
    return newest ? AckVerdict{AckAction::Credits, s.unacked_psn, {}, 0, "C9-217"} : drop("G12.1");
  }
  if (payload_bytes) return fail(psn, WcStatus::LocLenErr, "T7-l4");
  const bool selective = is_selective_nak(qp, syndrome);
  if (kind == SyndromeKind::Reserved ||
      (!selective && kind == SyndromeKind::Nak && is_reserved_nak(value, qp.options.reserved_nak)))
    return drop("T5");
  if (awaited) {
    const u32 missing = missing_psn(s, *awaited);
    const s32 beyond = psn_distance(missing, psn);
    const bool inside = beyond >= 0 && psn_distance(psn, awaited->last_psn()) >= 0;
    if (inside && kind == SyndromeKind::Ack) return drop("ERR-17");  // unsolicited
    if (beyond > 0) return implied_nak(s, qp, missing, "G12.3");
  }
  switch (kind) {
    case SyndromeKind::Ack:
      return {AckAction::Progress, psn_add(psn, 1), {}, 0, "G12.2"};
    case SyndromeKind::RnrNak:
      if (s.rnr_retries_left <= 0 && counts_rnr(qp))
        return fail(psn, WcStatus::RnrRetryExcErr, "G8.2");
      return {AckAction::Wait, psn, {}, value, "G8.2"};
    default:
      if (selective)
        return {AckAction::Progress, psn, {}, 0, kRecoveryNames[1], false, false, true};
      if (NakCode(value) != NakCode::PsnSequenceError)
        return fail(psn, status_of_nak(NakCode(value)), "C9-214");
      if (s.waits_rnr && psn == s.unacked_psn) return drop("G8.2");  // it waits for that PSN
      if (is_exhausted(s, qp, psn)) return fail(psn, WcStatus::RetryExcErr, "C9-212");
      return {AckAction::Resend, psn, {}, 0, "G11.4"};
  }
}

namespace response {
inline bool has_more_behind(Position p) { return p == Position::First || p == Position::Middle; }
// T7: the positions that may answer the READ `m` at `missing`, with `left` bytes to come: First or
// Middle if they are more than a packet holds, Last if not (ERR-16), Only always. A READ that was
// requested again from its middle may restart there, or continue (T9-21).
inline bool position_fits(const SentMessage& m, u32 missing, Position p, u32 left, u32 mtu) {
  const bool begins = p == Position::First || p == Position::Only;
  const bool anew = m.resumed;
  if (p != Position::Only && has_more_behind(p) != (left > mtu)) return false;
  return anew || begins == (missing == m.first_psn);
}
// T9-16: First and Middle are full, Last and Only carry the rest.
inline bool length_fits(Position p, u32 bytes, u32 left, u32 mtu) {
  if (has_more_behind(p)) return bytes == mtu;
  return bytes == left && bytes <= mtu;
}
inline bool has_good_syndrome(const ParsedPacket& packet) {
  return !packet.has(Ext::Aeth) || syndrome_kind(packet.aeth.syndrome) == SyndromeKind::Ack;
}
}  // namespace response

// A READ response or an ATOMIC Acknowledge (G12.4, G12.5). It acknowledges everything before it.
inline ResponseVerdict judge_response(const SendState& s, const QpConfig& qp,
                                      const SentMessage* awaited, const ParsedPacket& packet) {
  using namespace response;
  const u32 psn = packet.bth.psn;
  if (!s.is_outstanding(psn)) return {drop("G12.1")};
  if (!awaited)
    return {psn == s.unacked_psn ? fail(psn, WcStatus::BadRespErr, "T9-21") : drop("G12.1")};
  const u32 missing = missing_psn(s, *awaited);
  const s32 beyond = psn_distance(missing, psn);
  if (beyond > 0) return {implied_nak(s, qp, missing, "G12.4")};
  if (beyond < 0)  // at a SEND or WRITE
    return {psn == s.unacked_psn ? fail(psn, WcStatus::BadRespErr, "T9-21") : drop("G12.1")};
  const bool is_read = packet.opcode->operation == Operation::ReadResponse;
  const bool right = is_read == (awaited->answer != Answer::Atomic);
  if ((!right) || !has_good_syndrome(packet)) return {fail(psn, WcStatus::BadRespErr, "T9-21")};
  ResponseVerdict v{{AckAction::Progress, psn_add(psn, 1), {}, 0, "G12.5"}};
  v.places = v.completes = true;
  if (!is_read && packet.payload_bytes) return {fail(psn, WcStatus::LocLenErr, "T9-16")};
  if (!is_read) return v;
  const Position p = packet.opcode->position;
  v.offset = psns_between(awaited->first_psn, psn) * qp.path_mtu;
  v.completes = psn == awaited->last_psn();
  const bool empty = awaited->answer == Answer::Empty;  // whatever its length
  const u32 left = empty ? 0 : awaited->bytes - v.offset;
  if (!position_fits(*awaited, missing, p, left, qp.path_mtu))
    return {fail(psn, WcStatus::BadRespErr, "T9-21")};
  if (!length_fits(p, packet.payload_bytes, left, qp.path_mtu))
    return {fail(psn, WcStatus::LocLenErr, "T9-16")};
  return v;
}

// The transport timer expired (G11.3).
inline AckVerdict judge_timeout(const SendState& s) {
  if (s.retries_left <= 0)
    return {AckAction::Fail, s.unacked_psn, WcStatus::RetryExcErr, 0, "G11.3", true};
  return {AckAction::Resend, s.unacked_psn, {}, 0, "G11.3", true};
}

// o9-152: with an armed alternate path, exhausted retries lead to a migration.
inline AckVerdict or_migrate(const QpConfig& qp, AckVerdict v) {
  const bool exhausted = v.action == AckAction::Fail && v.status == WcStatus::RetryExcErr;
  const bool may = qp.path_mig == PathMigState::Armed &&
                   qp.options.exhausted_retries == ExhaustedRetries::Migrate;
  if (!exhausted || !may) [[likely]]
    return v;
  v.action = AckAction::Migrate;
  v.status = {};
  v.statement = "o9-152";
  return v;
}

// Applies a verdict to PSNs and retry counters. The caller completes WQEs up to unacked_psn.
inline void apply(SendState& s, const QpConfig& qp, const AckVerdict& v) {
  if (v.action == AckAction::Drop || v.action == AckAction::Credits) return;
  if (s.acknowledge(v.psn) || v.action == AckAction::Migrate) {
    s.waits_restart = false;
    s.retries_left = qp.retry_count;  // G11.6
  }
  if (v.action == AckAction::Progress || (v.action == AckAction::Resend && !v.by_timer))
    s.rnr_retries_left = qp.rnr_retry;  // G11.6
  if (v.action == AckAction::Resend) {
    --s.retries_left;  // C9-212
    s.waits_restart = v.implied;
  }
  if (v.action == AckAction::Migrate) s.waits_restart = v.implied;
  if (v.action == AckAction::Wait) s.rnr_retries_left -= response::counts_rnr(qp);  // G8.2
}

// The awaited READ or ATOMIC is answered; `message(i)` returns the SentMessage of WQE i.
template <class MessageOf>
void answer_awaited(SendState& s, const MessageOf& message) {
  if (++s.reads_answered == s.reads_started) return;
  do ++s.awaited;
  while (!has_response(message(s.awaited).answer));
}

// G6.2, G6.5: takes the credits of an accepted AETH. Code 31 switches to unlimited for good.
inline void take_credits(SendState& s, u32 msn, u8 syndrome) {
  if (syndrome_kind(syndrome) != SyndromeKind::Ack || s.credit == Credit::Unlimited) return;
  const u8 code = syndrome_value(syndrome);
  if (code == kCreditsUnused) return void(s.credit = Credit::Unlimited);
  const u32 limit = psn_add(msn, credits_of(code));
  if (s.credit == Credit::Unknown || psn_distance(s.limit_ssn, limit) > 0) s.limit_ssn = limit;
  s.credit = Credit::Limited;
}

// The WQE at which go-back-N resumes: the one in [completed, started) that holds `psn`; `started`
// if there is none.
template <class MessageOf>
u32 wqe_of_psn(u32 completed, u32 started, Psn psn, const MessageOf& message) {
  u32 i = completed;
  while (i != started && psns_between(message(i).first_psn, psn) >= message(i).packets) ++i;
  return i;
}
}  // namespace hca::proto

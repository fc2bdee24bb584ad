// SPDX-License-Identifier: Apache-2.0
// The requester as pure functions: from a send WQE to packets, and what a response or a timer makes
// of the send state.
#pragma once
#include <algorithm>
#include <array>

#include "model/proto/psn.h"
#include "model/proto/qp.h"
#include "model/proto/syndrome.h"

namespace hca::proto {
// PSNs from `from` up to but without `to`, when `to` is not behind: 0 .. 2^24-1.
constexpr u32 psns_between(Psn from, Psn to) { return (to - from) & kPsnMask; }

// ---- Work requests
// ------------------------------------------------------------------------------------------------
// One row per work request: its operation, what it carries and how it completes (T3, T4).
struct WorkRow {
  WorkOpcode opcode;
  std::string_view name;
  u8 first, middle, last, only;  // OpCode[4:0] by position
  CqeOpcode completion;
  bool immediate, invalidate;
  bool solicitable;    // BTH-5: SE may be set in its last packet
  bool sends_payload;  // data go out with the request
};
inline constexpr std::array kWorkRows{
    // clang-format off
    WorkRow{WorkOpcode::Send,               "SEND",                        0x00, 0x01, 0x02, 0x04, CqeOpcode::Send,        false, false, true,  true},
    WorkRow{WorkOpcode::SendImmediate,      "SEND with Immediate",         0x00, 0x01, 0x03, 0x05, CqeOpcode::Send,        true,  false, true,  true},
    WorkRow{WorkOpcode::SendInvalidate,     "SEND with Invalidate",        0x00, 0x01, 0x16, 0x17, CqeOpcode::Send,        false, true,  true,  true},
    WorkRow{WorkOpcode::RdmaWrite,          "RDMA WRITE",                  0x06, 0x07, 0x08, 0x0a, CqeOpcode::RdmaWrite,   false, false, false, true},
    WorkRow{WorkOpcode::RdmaWriteImmediate, "RDMA WRITE with Immediate",   0x06, 0x07, 0x09, 0x0b, CqeOpcode::RdmaWrite,   true,  false, true,  true},
    WorkRow{WorkOpcode::RdmaRead,           "RDMA READ",                   0x0c, 0x0c, 0x0c, 0x0c, CqeOpcode::RdmaRead,    false, false, false, false},
    WorkRow{WorkOpcode::CompareSwap,        "CmpSwap",                     0x13, 0x13, 0x13, 0x13, CqeOpcode::CompareSwap, false, false, false, false},
    WorkRow{WorkOpcode::FetchAdd,           "FetchAdd",                    0x14, 0x14, 0x14, 0x14, CqeOpcode::FetchAdd,    false, false, false, false},
    // clang-format on
};
constexpr const WorkRow* work_row(WorkOpcode opcode) {
  return std::size_t(opcode) < kWorkRows.size() ? &kWorkRows[std::size_t(opcode)] : nullptr;
}

inline constexpr u64 kMaxMessageBytes = u64{1} << 31;  // C9-10, C9-16

// Gives a new message its PSNs (G1.1, G1.2) and its SSN (G5.4).
inline SentMessage begin_message(SendState& s, const SendWqe& wqe, u32 bytes, u32 path_mtu,
                                 bool signal_all) {
  const SentMessage m{s.next_psn, psns_of(bytes, path_mtu), bytes, wqe.opcode,
                      wqe.signaled || signal_all};
  s.next_psn = m.end_psn();
  s.ssn = (s.ssn + 1) & kPsnMask;
  return m;
}
// True if the message would put more than 2^23 PSNs between the oldest unacknowledged and the
// newest (G1.4).
inline bool window_is_full(const SendState& s, u32 packets) {
  return psns_between(s.unacked_psn, s.next_psn) + packets > kPsnWindow;
}

// ---- Packets
// ------------------------------------------------------------------------------------------------------
// Packet `index` of a message: opcode by length and position (SEND-5 to SEND-8, WRITE-5, WRITE-6),
// its part of the data.
struct PacketPlan {
  const OpcodeRow* row;
  u32 psn, offset, bytes;
  bool ack_requested, solicited, last;
};
inline PacketPlan plan_packet(const QpConfig& qp, const SendWqe& wqe, const SentMessage& m,
                              u32 index) {
  const WorkRow& work = kWorkRows[std::size_t(wqe.opcode)];
  const bool first = index == 0, last = index + 1 == m.packets;
  const u8 operation = first ? (last ? work.only : work.first) : (last ? work.last : work.middle);
  const u32 offset = index * qp.path_mtu;
  return {opcode_row(u8(u8(qp.service) << 5 | operation)),
          psn_add(m.first_psn, index),
          offset,
          last ? m.bytes - offset : qp.path_mtu,
          last,  // G4.5: the last packet asks for the ACK
          last && wqe.solicited && work.solicitable,
          last};
}

// The BTH and the extension headers of a planned packet.
inline Bth request_bth(const QpConfig& qp, const PacketPlan& plan) {
  Bth bth{};
  bth.opcode = plan.row->code;
  bth.solicited = plan.solicited;
  bth.mig_req = true;  // G17.5
  bth.pkey = qp.pkey;
  bth.dest_qp = qp.dest_qpn;
  bth.ack_req = plan.ack_requested;
  bth.psn = plan.psn;
  return bth;
}

// ---- Responses
// ----------------------------------------------------------------------------------------------------
// What an Acknowledge packet makes of the send state (G12, T5, T9).
enum class AckAction : u8 {
  Drop,      // class E: ghost, or a reserved syndrome
  Progress,  // everything before `psn` is acknowledged
  Resend,    // the same, then go back to `psn` (class A)
  Wait,      // the same, then resend from `psn` after the RNR time (class A)
  Fail,      // the same, then the oldest WQE fails with `status` (class B)
};
struct AckVerdict {
  AckAction action;
  u32 psn;
  WcStatus status;
  u8 rnr_code;
  std::string_view statement;
  bool by_timer = false;
};

inline WcStatus status_of_nak(NakCode code) {
  switch (code) {
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

inline AckVerdict judge_ack(const SendState& s, const QpConfig& qp, u32 psn, u8 syndrome) {
  const auto drop = [](std::string_view why) { return AckVerdict{AckAction::Drop, 0, {}, 0, why}; };
  const u8 value = syndrome_value(syndrome);
  if (psns_between(s.unacked_psn, psn) >= psns_between(s.unacked_psn, s.sent_psn))
    return drop("C9-217");  // outside u .. s-1 (G12.1)
  switch (syndrome_kind(syndrome)) {
    case SyndromeKind::Ack:
      return {AckAction::Progress, psn_add(psn, 1), {}, 0, "G12.2"};
    case SyndromeKind::RnrNak:
      if (!s.rnr_retries_left && qp.rnr_retry != 7)
        return {AckAction::Fail, psn, WcStatus::RnrRetryExcErr, 0, "G8.2"};
      return {AckAction::Wait, psn, {}, value, "G8.2"};
    case SyndromeKind::Nak:
      if (value > u8(NakCode::InvalidRdRequest)) return drop("T5");
      if (NakCode(value) != NakCode::PsnSequenceError)
        return {AckAction::Fail, psn, status_of_nak(NakCode(value)), 0, "C9-214"};
      if (s.waits_rnr && psn == s.unacked_psn) return drop("G8.2");  // it waits for that PSN
      if (!s.retries_left) return {AckAction::Fail, psn, WcStatus::RetryExcErr, 0, "C9-212"};
      return {AckAction::Resend, psn, {}, 0, "G11.4"};
    default:
      return drop("T5");
  }
}

// The transport timer expired (G11.3).
inline AckVerdict judge_timeout(const SendState& s) {
  if (!s.retries_left)
    return {AckAction::Fail, s.unacked_psn, WcStatus::RetryExcErr, 0, "G11.3", true};
  return {AckAction::Resend, s.unacked_psn, {}, 0, "G11.3", true};
}

// Applies a verdict to PSNs and retry counters. Completing WQEs up to unacked_psn is the caller's
// part.
inline void apply(SendState& s, const QpConfig& qp, const AckVerdict& v) {
  if (v.action == AckAction::Drop) return;
  const bool progress = v.psn != s.unacked_psn;
  s.unacked_psn = v.psn;
  if (progress) s.retries_left = qp.retry_count;  // G11.6
  if (v.action == AckAction::Progress || (v.action == AckAction::Resend && !v.by_timer))
    s.rnr_retries_left = qp.rnr_retry;                                       // G11.6
  if (v.action == AckAction::Resend) --s.retries_left;                       // C9-212
  if (v.action == AckAction::Wait) s.rnr_retries_left -= qp.rnr_retry != 7;  // G8.2
}

// Where go-back-N resumes: the WQE in [completed, started) that holds `psn`, `started` if none
// does. `message(i)` gives the SentMessage of WQE i.
template <class MessageOf>
u32 wqe_of_psn(u32 completed, u32 started, Psn psn, const MessageOf& message) {
  u32 i = completed;
  while (i != started && psns_between(message(i).first_psn, psn) >= message(i).packets) ++i;
  return i;
}
}  // namespace hca::proto

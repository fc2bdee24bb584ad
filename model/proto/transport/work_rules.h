// SPDX-License-Identifier: Apache-2.0
// The required form of a WQE, and the effect of an error on the receive WQE in use.
#pragma once
#include <span>

#include "model/proto/memory/key_rules.h"
#include "model/proto/transport/atomics.h"
#include "model/proto/transport/requester_rules.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/transport/saved_requests.h"
#include "model/proto/transport/shared_queue.h"

namespace hca::proto {
// A work request has the same answer as the operation of its packets, and needs the same
// capability.
static_assert([] {
  for (std::size_t i = 0; i < kWorkRows.size(); ++i) {
    const WorkRow& work = kWorkRows[i];
    if (std::size_t(work.opcode) != i) return false;
    if (work.is_local()) continue;
    const OperationRow& row = opcode_row(work.only)->traits();
    if (row.answer != work.answer || row.capability != work.capability) return false;
  }
  return true;
}());

// ---- Send WQEs
// The offset of its SGEs or inline data.
constexpr u32 segments_offset(const WorkRow& row, Service service = Service::Rc) {
  return kSendWqeBytes + row.segment_bytes() + destination_bytes(service);
}

// T4: the work requests of a service.
inline bool may_send(Service service, const WorkRow& row) {
  return includes(row.services, service);
}

// Checks the form of send WQE `index` of a queue pair; Success if it is valid (T9 row 17).
inline WcStatus check_send_wqe(const SendWqe& wqe, u32 index, const QpConfig& qp) {
  const WorkRow* row = work_row(wqe.opcode);
  if (!row || !may_send(qp.service, *row) || !has(qp.options, row->capability) ||
      wqe.index != u16(index) || (wqe.inline_data && !row->may_be_inline()))
    return WcStatus::LocQpOpErr;
  const bool has_data = row->payload || row->places_response();
  if (!has_data && wqe.sge_count) return WcStatus::LocQpOpErr;
  if (!row->is_local() && !names_partition(qp)) return WcStatus::LocQpOpErr;
  const u64 behind = wqe.inline_data ? wqe.inline_bytes : u64{wqe.sge_count} * kSgeBytes;
  return behind + segments_offset(*row, qp.service) <= qp.sq.stride() ? WcStatus::Success
                                                                      : WcStatus::LocQpOpErr;
}

// The size of a send WQE of a queue pair of this service, including SGEs or inline data.
inline u64 bytes_of_wqe(const SendWqe& wqe, Service service = Service::Rc) {
  const WorkRow* row = work_row(wqe.opcode);
  const u64 behind = wqe.inline_data ? wqe.inline_bytes : u64{wqe.sge_count} * kSgeBytes;
  return (row ? segments_offset(*row, service) : kSendWqeBytes) + behind;
}
// True if these bytes, which begin with a send WQE of a queue pair of this service, contain all of
// it.
inline bool holds_whole_wqe(std::span<const u8> bytes, Service service = Service::Rc) {
  return bytes.size() >= kSendWqeBytes &&
         bytes.size() >= bytes_of_wqe(decode<SendWqe>(bytes.data()), service);
}

// T9 row 16; an ATOMIC returns 8 bytes, an ATOMIC WRITE carries 8. `bytes`: of its SGEs or operands.
constexpr WcStatus check_message_bytes(const WorkRow& row, u64 bytes, const QpConfig& qp) {
  const bool good = row.exact_bytes ? bytes == row.exact_bytes : bytes <= kMaxMessageBytes;
  const bool fits = qp.service != Service::Ud || bytes <= qp.path_mtu;
  return good && fits ? WcStatus::Success : WcStatus::LocLenErr;
}

// EXT-8, EXT-9: the same for a message whose request carries the first part of its SGEs; `bytes` is
// then that of the response.
inline WcStatus split_message_bytes(const WorkRow& row, const WorkOperands& operands, u64& bytes,
                                    const QpConfig& qp) {
  const u32 request = request_bytes_of(row, operands);
  if (request > kMaxGetRequestBytes || request > bytes) return WcStatus::LocLenErr;
  bytes -= request;
  return check_message_bytes(row, bytes, qp);
}

// The local right that the SGEs of a work request need: a response is written to them.
constexpr Rights local_right(const WorkRow& row) {
  return Rights(row.places_response() ? kLocalWrite : kLocalRead);
}
// The same of a receive WQE.
constexpr Rights receive_right() { return Rights{kLocalWrite}; }

// T9 row 15, T10 row 1: checks one SGE with local rights; an empty one names no memory (G22.3).
inline bool sge_is_good(const Region* region, const Sge& sge, const Accessor& who,
                        const QpConfig& qp, Rights rights) {
  return key_allows(region, sge.lkey, who, sge.va, sge.bytes, rights) ||
         uses_reserved_lkey(qp, sge.lkey);
}

// ---- Completions
// T9-24, T14-MW_BIND_ERR: the status of a refused work request without packets.
inline WcStatus refused_local_status() { return WcStatus::MwBindErr; }
// G20.2.
inline WcStatus flush_status() { return WcStatus::WrFlushErr; }
// G23.1: the last packet of a SEND, or of a WRITE with Immediate.
inline bool makes_receive_cqe(const OpcodeRow& row) { return row.ends_receive(); }

// True if send WQEs are posted to the queue pair (T13, G24.1).
inline bool has_send_queue(const QpConfig& qp) {
  return takes_sends(qp.state) && has_requester(qp);
}
// G23.2: true if its own receive queue gets receive WQEs (not an SRQ).
inline bool has_receive_queue(const QpConfig& qp) {
  return takes_receives(qp.state) && !uses_srq(qp);
}

// ---- Receive WQEs
inline bool receive_wqe_is_good(const ReceiveWqe& wqe, u32 index, u32 stride) {
  return wqe.index == u16(index) && wqe.sge_count * kSgeBytes <= stride - kReceiveWqeBytes;
}

// The checks that need the receive WQE, after the rules of judge_request: T10 rows 16 and 1, 17.
inline constexpr RequestVerdict kReceiveTooShort{
    RequestAction::NakAndFail, RequestCause::ReceiveTooShort, NakCode::InvalidRequest, "T10-16/RC"};
inline constexpr RequestVerdict kBadReceiveWqe{RequestAction::NakAndFail,
                                               RequestCause::BadReceiveWqe,
                                               NakCode::RemoteOperationalError, "T10-1/RC"};
// The faulty WQE is not known.
inline constexpr RequestVerdict kUnreadableReceiveWqe{RequestAction::NakAndFail,
                                                      RequestCause::UnreadableReceiveWqe,
                                                      NakCode::RemoteOperationalError, "T10-17/RC"};
// The data of a READ: no receive WQE is concerned.
inline constexpr RequestVerdict kUnreadableMemory{RequestAction::NakAndFail,
                                                  RequestCause::UnreadableMemory,
                                                  NakCode::RemoteOperationalError, "T10-17/RC"};
inline constexpr RequestVerdict kReceiveProtection{RequestAction::NakAndFail,
                                                   RequestCause::LocalProtection,
                                                   NakCode::RemoteOperationalError, "T10-1/RC"};

inline constexpr RequestVerdict kNoReceiveWqe{RequestAction::RnrNak, RequestCause::NoReceiveWqe,
                                              NakCode{}, "G8.1"};

// G22.5: the R_Key of a request became invalid while it was executed.
inline constexpr RequestVerdict kKeyGone{RequestAction::NakAndFail, RequestCause::BadRkey,
                                         NakCode::RemoteAccessError, "G22.5"};
inline bool write_key_is_gone(const Region* region, const ReceiveState& s, const Accessor& who) {
  return check_access(region, s.write_rkey, who, s.write_va, s.write_left, kRemoteWrite) !=
         AccessFault::None;
}

// These verdicts for other services (T10, T11): class D1 or A of unreliable ones, B or F of RD.
struct ServiceRow {
  Services services;
  RequestCause cause;
  RequestAction action;
  std::string_view statement;
};
inline constexpr std::array kServiceRows{
    // clang-format off
    ServiceRow{kUc, RequestCause::NoReceiveWqe,    RequestAction::Abandon, "T10-15/UC"},
    ServiceRow{kUc, RequestCause::ReceiveTooShort, RequestAction::Abandon, "T10-16/UC"},
    ServiceRow{kUc, RequestCause::BadRkey,         RequestAction::Abandon, "G22.5"},
    ServiceRow{kUd, RequestCause::NoReceiveWqe,    RequestAction::Drop,    "T10-15/UD"},
    ServiceRow{kUd, RequestCause::ReceiveTooShort, RequestAction::Drop,    "T10-16/UD"},
    ServiceRow{kUc, RequestCause::BadReceiveWqe,   RequestAction::Fail,    "T10-1/UC"},
    ServiceRow{kUd, RequestCause::BadReceiveWqe,   RequestAction::Fail,    "T10-1/UD"},
    ServiceRow{kUc, RequestCause::LocalProtection, RequestAction::Fail,    "T10-1/UC"},
    ServiceRow{kUd, RequestCause::LocalProtection, RequestAction::Fail,    "T10-1/UD"},
    ServiceRow{kUc, RequestCause::UnreadableReceiveWqe, RequestAction::Fail, "T10-17/UC"},
    ServiceRow{kUd, RequestCause::UnreadableReceiveWqe, RequestAction::Fail, "T10-17/UD"},
    ServiceRow{kRd, RequestCause::ReceiveTooShort, RequestAction::NakAndEnd, "T10-16/RD"},
    ServiceRow{kRd, RequestCause::BadRkey,         RequestAction::NakAndEnd, "G22.5"},
    // clang-format on
};
inline RequestVerdict on_service(const RequestVerdict& v, Service service) {
  for (const ServiceRow& row : kServiceRows) {
    if (row.cause != v.cause || !includes(row.services, service)) continue;
    return {row.action, v.cause, is_reliable(service) ? v.nak : NakCode{}, row.statement};
  }
  return v;
}

// True if the key still allows the accesses of a READ, an ATOMIC or a similar request.
inline bool key_allows(const Region* region, const RequestEffect& e, const Accessor& who,
                       const ParsedPacket& packet) {
  if (names_whole_region(packet))
    return key_allows(region, e.rkey, who, region ? region->start : 0, 0, needed_rights(packet),
                      true);
  return key_allows(region, e.rkey, who, e.va, e.byte_len, needed_rights(packet));
}
// G3.3, G3.6, T10-7: a duplicate READ is answered if it is a part of a held READ, its key is good,
// and the queue pair may still be read through (G22.2); otherwise it is dropped. By options it is
// answered without a held READ, but not for PSNs of other requests (READ-16), or refused because of
// its key.
inline bool may_repeat_read(const SavedRequests& saved, const RequestEffect& e, Operation operation,
                            const QpConfig& qp, bool key_good) {
  const bool again = qp.options.dup_read_check == DupReadCheck::Reexecute;
  return key_good && (qp.access & kRemoteRead) &&
         (again ? e.packets != 0 : saved.holds_read(e, operation, qp.path_mtu));
}
// READ-16: a duplicate READ that is answered without being held would, from `epsn` on, use the PSNs
// of other requests.
inline void limit_repeated_read(RequestEffect& e, const QpConfig& qp, Psn epsn) {
  const bool again = qp.options.dup_read_check == DupReadCheck::Reexecute;
  if (again && psn_sub(epsn, e.ack_psn) < e.packets) e.packets = 0;
}
inline bool refuses_repeated_read(const QpConfig& qp, bool key_good) {
  return !key_good && qp.options.dup_read_bad_key == DupReadBadKey::Nak;
}

// True if `bytes` from `offset` of a scatter list on fit, and the keys of the touched SGEs allow
// it; the first SGE that fails decides. `find(key)` returns the Region of a key.
template <class FindRegion>
RequestVerdict judge_scatter(std::span<const Sge> scatter, u64 offset, u32 bytes,
                             const QpConfig& qp, const SharedQueue* shared,
                             const FindRegion& find) {
  for (const Sge& sge : scatter) {
    if (!bytes) break;
    if (offset >= sge.bytes) {
      offset -= sge.bytes;
      continue;
    }
    if (!sge_is_good(find(sge.lkey), sge, receiver_of(qp, shared), qp, receive_right()))
      return kReceiveProtection;
    bytes -= u32(std::min<u64>(bytes, sge.bytes - offset));
    offset = 0;
  }
  return bytes ? kReceiveTooShort : RequestVerdict{};
}

// UC: true if a SEND in progress ends incomplete, by its own packet or by a packet that begins
// another message, whatever happens to that message.
inline bool abandons_send(const ReceiveState& s, const ParsedPacket& packet, const QpConfig& qp,
                          const RequestVerdict& v) {
  if (qp.service != Service::Uc || s.message != InMessage::Send) return false;
  if (v.action == RequestAction::Abandon) return true;
  const bool begins = packet.opcode && begins_message(packet.opcode->position);
  return begins &&
         (v.action == RequestAction::Execute ||
          (v.action == RequestAction::Fail && v.cause != RequestCause::SharedQueueFailed));
}

// The local report of a request that fails the QP (T11 classes A and C): the status of the receive
// WQE in use, or the asynchronous event if there is none.
struct FailureRow {
  RequestCause cause;
  WcStatus status;
  EventType event;
};
inline constexpr std::array kFailureRows{
    // clang-format off
    FailureRow{RequestCause::BadSequence,     WcStatus::RemInvReqErr,  EventType::QpReqErr},
    FailureRow{RequestCause::Unsupported,     WcStatus::RemInvReqErr,  EventType::QpReqErr},
    FailureRow{RequestCause::TooManyReads,    WcStatus::RemInvReqErr,  EventType::QpReqErr},
    FailureRow{RequestCause::Misaligned,      WcStatus::RemInvReqErr,  EventType::QpReqErr},
    FailureRow{RequestCause::BadInvalidate,   WcStatus::RemInvReqErr,  EventType::QpAccessErr},
    FailureRow{RequestCause::BadLength,       WcStatus::LocLenErr,     EventType::QpReqErr},
    FailureRow{RequestCause::BadRkey,         WcStatus::LocAccessErr,  EventType::QpAccessErr},
    FailureRow{RequestCause::ReceiveTooShort, WcStatus::LocLenErr,     EventType::QpReqErr},
    FailureRow{RequestCause::LocalProtection, WcStatus::LocProtErr,    EventType::QpFatal},
    FailureRow{RequestCause::BadReceiveWqe,   WcStatus::LocQpOpErr,    EventType::QpFatal},
    FailureRow{RequestCause::NoXrcSrq,        WcStatus::RemInvReqErr,  EventType::QpAccessErr},
    FailureRow{RequestCause::WrongXrcDomain,  WcStatus::RemInvReqErr,  EventType::QpAccessErr},
    FailureRow{RequestCause::SharedQueueFailed, WcStatus::LocQpOpErr, EventType::QpFatal},
    FailureRow{RequestCause::UnreadableReceiveWqe, WcStatus::LocQpOpErr, EventType::QpFatal},
    // clang-format on
};
constexpr FailureRow failure_of(RequestCause cause) {
  for (const FailureRow& row : kFailureRows)
    if (row.cause == cause) return row;
  return {cause, WcStatus::LocQpOpErr, EventType::QpFatal};
}

// Class K: an XRC target reports the failure by an event even when a receive WQE reports it.
inline bool tells_failure_twice(const QpConfig& qp) { return qp.service == Service::Xrc; }

// AEQ-12: true if an event of this failure names the receive WQE.
constexpr bool names_receive_wqe(RequestCause cause) {
  return cause == RequestCause::UnreadableReceiveWqe;
}

// True if a receive WQE is in use when `v` fails the request: the message in progress holds one, or
// the packet passed the check that takes one (after RuleStage::Resource).
// In unreliable services a WQE counts when its message ends (take_receive): none is held, except
// one of an SRQ.
inline bool holds_receive_wqe(const QpConfig& qp, const ReceiveState& s) {
  return s.message == InMessage::Send && (qp.reliable || uses_srq(qp));
}
// The causes of the rules before RuleStage::Resource.
inline constexpr auto kIsBeforeResource = [] {
  std::array<bool, std::size_t(RequestCause::Count)> before{};
  for (const RequestRule& rule : kRequestRules)
    if (rule.stage < RuleStage::Resource) before[std::size_t(rule.cause)] = true;
  return before;
}();
inline bool failure_takes_receive_wqe(const QpConfig& qp, const ParsedPacket& packet,
                                      const RequestVerdict& v) {
  if (v.cause == RequestCause::UnreadableReceiveWqe) return false;
  if (v.cause == RequestCause::SharedQueueFailed) return false;
  if (!qp.reliable)
    return packet.opcode->operation == Operation::Send && v.cause != RequestCause::NoReceiveWqe &&
           (!uses_srq(qp) || request::takes_receive_wqe(*packet.opcode));
  const bool before_resource = kIsBeforeResource[std::size_t(v.cause)];
  return packet.opcode && !before_resource && request::takes_receive_wqe(*packet.opcode);
}

// ---- Shared receive queues
// G23.1; call after the WQE is taken.
inline bool is_below_limit(const SharedQueue& queue) { return queue.available() < queue.limit; }
// Takes an SRQ WQE for this request; call after apply(). `passed`: the request passed its checks,
// so that in unreliable services a WQE is in use whatever follows (G9.1, G9.2). True: fewer WQEs
// than the limit are left now (G23.1).
inline bool take_from(SharedQueue& queue, ReceiveState& s, const ParsedPacket& packet,
                      const QpConfig& qp, const RequestVerdict& v, bool passed, RequestEffect& e) {
  const bool behind_failure = s.failing && v.action == RequestAction::Execute;  // not executed
  const bool takes = passed && !behind_failure && request::takes_receive_wqe(*packet.opcode);
  const bool fails = v.action == RequestAction::NakAndFail || v.action == RequestAction::Fail;
  // As with an own receive queue: the WQE after the effect's is the one that fails.
  const bool fails_own = fails && !takes && failure_takes_receive_wqe(qp, packet, v);
  e.takes_shared = takes || fails_own;
  if (e.takes_shared) {
    s.shared_wqe = queue.head();
    ++queue.taken;
    ++s.shared_taken;
  }
  const bool begins = v.action == RequestAction::Execute && packet.has(Ext::XrcEth) &&
                      begins_message(packet.opcode->position);
  if (begins) s.xrc_srqn = packet.xrc_eth.xrc_srq;
  e.receive_wqe = s.shared_wqe - fails_own;
  s.rq_posted = s.rq_consumed = 0;  // it has no own receive queue
  const bool below = e.takes_shared && is_below_limit(queue);
  if (below) queue.limit = 0;
  return below;
}
// The status of a WQE that was taken for an undelivered message and cannot be put back.
inline WcStatus status_of_abandoned(RequestCause cause) {
  return cause == RequestCause::ReceiveTooShort ? WcStatus::LocLenErr : WcStatus::RemAbortErr;
}
}  // namespace hca::proto

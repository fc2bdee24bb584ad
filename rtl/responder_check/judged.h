// SPDX-License-Identifier: Apache-2.0
// The inputs and outputs of rtl/responder_check/responder_check.sv beside its packets: `context_t`,
// `region_t` and `judged_t` of hca_pkg.
#pragma once
#include "model/proto/transport/request_effect.h"
#include "rtl/common/look_up_pins.h"
#include "rtl/common/side_band.h"

namespace hca::rtl {
// The state that a request may change: of its queue pair or EE context, and of the receive queue
// from which it takes WQEs: its own, an SRQ, or of an EE context that of the queue pair it names.
struct CheckedState {
  u64 write_va;  // address of the next packet of the WRITE in progress
  u32 write_rkey, write_left, write_bytes;
  u32 reads_accepted;            // READs and ATOMICs
  u32 shared_wqe, shared_taken;  // of its SRQ: the WQE taken last, and how many
  u32 rq_consumed;               // of the receive queue: WQEs taken
  u32 rq_limit;                  // of an SRQ; 0: none
  u32 epsn, msn;
  u32 xrc_srqn;  // XRC: SRQ of the message that began last
  // RD: the queue pair of the message that began last, WQEs taken from its receive queue, and the
  // one that this EE context took last.
  u32 owner, owner_consumed, held_wqe;
  u8 message;  // message in progress: enum InMessage
  bool nak_sent, failing;
};

// The part of a queue pair's context that changes only between packets; that of an EE context as
// it serves the queue pair that a request names.
struct CheckedConfig : proto::Capabilities {
  proto::Gid own_gid, peer_gid;  // of its path; IPv4 addresses as ::ffff:a.b.c.d
  u16 own_lid, peer_lid;
  u8 framing;
  u32 pd, qkey, srqn;
  // The receive queue is an SRQ, or of an EE context that of a queue pair of RD: `srqn`; 0: that
  // does not exist.
  bool shared;
  u16 pkey, path_mtu;
  proto::Rights access;
  u8 max_reads, min_rnr_timer, service, qp_state;
  bool credits, drop_after_rnr, congestion_control;  // TransportOptions
  u32 reads_finished;                                // of reads_accepted: responses have left
  u32 rq_posted;                                     // of the receive queue
  bool rq_failed;                                    // it is an SRQ that has failed
  // XRC: the domain of the queue pair, that of the SRQ (0: none) and its PD; an initiator answers
  // nothing; R_Keys are of the SRQ's PD (G24.3); the SRQ of the first packet counts (G24.5).
  u32 domain, queue_domain, queue_pd;
  bool initiator, keys_of_queue, keeps_queue;
  // Options of extended operations: new_get_offset, put_response_length, put_change.
  bool takes_get_offset, refuses_put_response, keeps_put;
  // Of an EE context: the queue pair that a request names, and its RD domain in queue_domain; that
  // of the context is `domain`. By rd_abort and rd_error_class, the receive WQE of a message that
  // a RESYNC, or an error, ends completes; else it returns to its queue.
  // With resync_needs_queue a RESYNC that names no valid one is refused (rd_resync_queue).
  bool has_queue, resync_needs_queue;
  u8 queue_service, queue_state;
  bool completes_at_resync, completes_at_error;
};
struct CheckedContext : CheckedConfig {
  CheckedState state;

  static constexpr std::string_view kName = "context";
  static constexpr auto parts() {
    return make_rows(Part<CheckedContext, CheckedConfig>{},
                     Part<CheckedContext, CheckedState>{"state", &CheckedContext::state});
  }
};

// The region that an R_Key's index names.
struct CheckedRegion {
  u64 start, bytes;
  u32 key, pd, qpn;  // qpn: kAnyQp, or the only one that may use it
  proto::Rights access;
  u8 state;  // enum KeyState
  bool exists;
};

// The verdict on a request, the fields that the following blocks need of it, and the new context.
struct JudgedStart {
  bool first, last;
  u8 action, cause, nak;  // enums RequestAction, RequestCause, NakCode
  u8 syndrome;            // of the answer; 0 without one
  bool completes_message, congested;
  bool takes_shared, below_limit;  // of its SRQ: takes a WQE, and fewer than the limit are left
  bool shared;
  bool ee;         // an EE context: qpn is its number, srqn a queue pair
  bool keeps_wqe;  // RD: the WQE of the message that it ends is in its queue again
  u32 qpn, srqn;
  u32 ack_psn, msn;
  u32 packets;  // READ: packets of its response
  u64 va;
  u32 rkey, byte_len, receive_wqe, free_receives;
};
struct Judged : JudgedStart {
  using Pins = LookUpPins;
  CheckedState state;

  static constexpr std::string_view kName = "judged";
  static constexpr auto parts() {
    return make_rows(Part<Judged, JudgedStart>{},
                     Part<Judged, CheckedState>{"state", &Judged::state});
  }
};
}  // namespace hca::rtl

namespace hca::proto {
// clang-format off
template <>
struct Layout<rtl::CheckedState> {
  using S = rtl::CheckedState;
  static constexpr std::string_view name = "checked state";
  static constexpr auto fields = make_rows(
      field(&S::write_va,       "write_va",       64),
      field(&S::write_rkey,     "write_rkey",     32),
      field(&S::write_left,     "write_left",     32),
      field(&S::write_bytes,    "write_bytes",    32),
      field(&S::reads_accepted, "reads_accepted", 32),
      field(&S::shared_wqe,     "shared_wqe",     32),
      field(&S::shared_taken,   "shared_taken",   32),
      field(&S::epsn,           "epsn",           24),
      field(&S::msn,            "msn",            24),
      field(&S::xrc_srqn,       "xrc_srqn",       24),
      field(&S::owner,          "owner",          24),
      field(&S::owner_consumed, "owner_consumed", 32),
      field(&S::held_wqe,       "held_wqe",       32),
      field(&S::rq_consumed,    "rq_consumed",    32),
      field(&S::rq_limit,       "rq_limit",       32),
      reserved("spare", 4, ""),
      field(&S::message,        "message",        2),
      field(&S::nak_sent,       "nak_sent",       1),
      field(&S::failing,        "failing",        1));
};
template <>
struct Layout<rtl::CheckedConfig> {
  using C = rtl::CheckedConfig;
  static constexpr std::string_view name = "checked config";
  static constexpr auto front = make_rows(
      field(&C::own_gid,        "own_gid",        128),
      field(&C::peer_gid,       "peer_gid",       128),
      field(&C::own_lid,        "own_lid",        16),
      field(&C::peer_lid,       "peer_lid",       16),
      field(&C::pd,             "pd",             32),
      field(&C::qkey,           "qkey",           32),
      field(&C::reads_finished, "reads_finished", 32),
      field(&C::rq_posted,      "rq_posted",      32),
      field(&C::domain,         "domain",         32),
      field(&C::queue_domain,   "queue_domain",   32),
      field(&C::queue_pd,       "queue_pd",       32),
      field(&C::srqn,           "srqn",           24),
      field(&C::pkey,           "pkey",           16),
      field(&C::path_mtu,       "path_mtu",       13),
      field(&C::framing,        "framing",        3),
      field(&C::access,         "access",         16),
      field(&C::max_reads,      "max_reads",      8),
      field(&C::min_rnr_timer,  "min_rnr_timer",  5),
      field(&C::service,        "service",        3),
      field(&C::resync_needs_queue, "resync_needs_queue", 1),
      field(&C::has_queue,      "has_queue",      1),
      field(&C::queue_service,  "queue_service",  3),
      field(&C::queue_state,    "queue_state",    3),
      field(&C::completes_at_resync, "completes_at_resync", 1),
      field(&C::completes_at_error, "completes_at_error", 1),
      field(&C::takes_get_offset, "takes_get_offset", 1),
      field(&C::refuses_put_response, "refuses_put_response", 1),
      field(&C::keeps_put,      "keeps_put",      1),
      field(&C::initiator,      "initiator",      1),
      field(&C::keys_of_queue,  "keys_of_queue",  1),
      field(&C::keeps_queue,    "keeps_queue",    1),
      reserved("capabilities_spare", 8 - proto::kCapabilities.size(), ""));
  static constexpr auto back = make_rows(
      field(&C::qp_state,       "qp_state",       3),
      field(&C::shared,         "shared",         1),
      field(&C::credits,        "credits",        1),
      field(&C::drop_after_rnr, "drop_after_rnr", 1),
      field(&C::congestion_control, "congestion_control", 1),
      field(&C::rq_failed,      "rq_failed",      1));
  static constexpr auto fields = join_rows(
      join_rows(front, capability_fields<C>(&CapabilityRow::option)), back);
};
template <>
struct Layout<rtl::CheckedRegion> {
  using R = rtl::CheckedRegion;
  static constexpr std::string_view name = "region";
  static constexpr auto fields = make_rows(
      field(&R::start,  "start",  64),
      field(&R::bytes,  "bytes",  64),
      field(&R::key,    "key",    32),
      field(&R::pd,     "pd",     32),
      field(&R::qpn,    "qpn",    32),
      field(&R::access, "access", 16),
      reserved("spare", 5, ""),
      field(&R::state,  "state",  2),
      field(&R::exists, "exists", 1));
};
template <>
struct Layout<rtl::JudgedStart> {
  using J = rtl::JudgedStart;
  static constexpr std::string_view name = "judged start";
  static constexpr auto fields = make_rows(
      field(&J::qpn,               "qpn",               24),
      reserved("spare", 3, ""),
      field(&J::ee,                "ee",                1),
      field(&J::keeps_wqe,         "keeps_wqe",         1),
      field(&J::first,             "first",             1),
      field(&J::last,              "last",              1),
      field(&J::completes_message, "completes_message", 1),
      field(&J::action,            "action",            4),
      field(&J::cause,             "cause",             5),
      field(&J::nak,               "nak",               3),
      field(&J::congested,         "congested",         1),
      field(&J::takes_shared,      "takes_shared",      1),
      field(&J::below_limit,       "below_limit",       1),
      field(&J::shared,            "shared",            1),
      field(&J::syndrome,          "syndrome",          8),
      field(&J::srqn,              "srqn",              24),
      field(&J::ack_psn,           "ack_psn",           24),
      field(&J::msn,               "msn",               24),
      field(&J::packets,           "packets",           32),
      field(&J::va,                "va",                64),
      field(&J::rkey,              "rkey",              32),
      field(&J::byte_len,          "byte_len",          32),
      field(&J::receive_wqe,       "receive_wqe",       32),
      field(&J::free_receives,     "free_receives",     32));
};
// clang-format on
}  // namespace hca::proto

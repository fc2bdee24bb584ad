// SPDX-License-Identifier: Apache-2.0
// The attributes in commands on queue pairs.
#pragma once
#include <array>

#include "model/proto/interface/device.h"
#include "model/proto/interface/object_attributes.h"
#include "model/proto/wire/framing.h"

namespace hca::proto {
enum class QpState : u8 { Reset, Init, Rtr, Rts, Sqd, Sqe, Error };
inline constexpr std::array<std::string_view, 7> kQpStateNames{"Reset", "Init", "RTR",  "RTS",
                                                               "SQD",   "SQE",  "Error"};
constexpr std::string_view name_of(QpState state) {
  return unsigned(state) < kQpStateNames.size() ? kQpStateNames[unsigned(state)] : "unknown";
}
// G17.1: automatic path migration; values as in ibv_mig_state.
enum class PathMigState : u8 { Migrated, Rearm, Armed };
inline constexpr std::array<std::string_view, 3> kPathMigStateNames{"Migrated", "Rearm", "Armed"};
inline constexpr u8 kMaxLogWorkEntries = 15;
// READs and ATOMICs in flight on a queue pair, in each direction
inline constexpr u8 kMaxRdAtomic = 128;

struct QpCreate {  // CreateQp
  u8 service;      // enum Service
  bool signal_all;
  u32 pd, send_cq, receive_cq;
  u64 sq_address, rq_address;
  u8 sq_log_entries, rq_log_entries;
  u8 sq_log_stride, rq_log_stride;  // bytes of a WQE slot, as a power of two
  u64 context = 0;
  bool privileged = false;
  u32 srqn = 0;
  bool blocks_self = false;
  bool is_target = false;  // XRC
  u32 xrcd = 0;
};
template <>
struct Layout<QpCreate> {
  static constexpr std::string_view name = "QP creation";
  static constexpr auto fields = make_rows(
      field(&QpCreate::service, "Service", 8, "OpCode[7:5] of its service"),
      field(&QpCreate::pd, "PD", 24, "protection domain"),
      field(&QpCreate::signal_all, "SignalAll", 1, "every send WQE is signaled"),
      field(&QpCreate::privileged, "Privileged", 1,
            "its SGEs may have L_Key 0, the reserved one: VA is then a physical address"),
      field(&QpCreate::blocks_self, "BlocksSelf", 1,
            "receives no copy of its own multicast datagrams"),
      field(&QpCreate::is_target, "Target", 1,
            "XRC: the queue pair has only a receive side; 0: it has only a send side"),
      unused(4), field(&QpCreate::send_cq, "SendCQ", 24, "CQN"), unused(8),
      field(&QpCreate::receive_cq, "ReceiveCQ", 24, "CQN"),
      field(&QpCreate::sq_log_entries, "SqLog", 8, "WQE slots as a power of two"),
      field(&QpCreate::rq_log_entries, "RqLog", 8, "WQE slots as a power of two"),
      field(&QpCreate::sq_log_stride, "SqStride", 8, "bytes of a slot as a power of two, 6 to 9"),
      field(&QpCreate::rq_log_stride, "RqStride", 8, "the same, 5 to 8"),
      field(&QpCreate::sq_address, "SqAddress", 64, "of the ring"),
      field(&QpCreate::rq_address, "RqAddress", 64, "of the ring"),
      field(&QpCreate::context, "Context", 64, "chosen by the host, returned in asynchronous EQEs"),
      unused(8), field(&QpCreate::srqn, "SRQN", 24, "SRQ instead of its receive queue; 0: none"),
      unused(8), field(&QpCreate::xrcd, "XRCD", 24, "domain of an XRC target"));
};

// The attributes that a ModifyQp carries.
enum QpMask : u32 {
  kQpState = 1 << 0,
  kQpPkeyIndex = 1 << 1,
  kQpPort = 1 << 2,
  kQpAccess = 1 << 3,
  kQpPath = 1 << 4,
  kQpPathMtu = 1 << 5,
  kQpDestQpn = 1 << 6,
  kQpRqPsn = 1 << 7,
  kQpMaxDestRdAtomic = 1 << 8,
  kQpMinRnrTimer = 1 << 9,
  kQpTimeout = 1 << 10,
  kQpRetryCount = 1 << 11,
  kQpRnrRetry = 1 << 12,
  kQpSqPsn = 1 << 13,
  kQpMaxRdAtomic = 1 << 14,
  kQpQkey = 1 << 15,
  kQpCurState = 1 << 16,
  kQpSqdNotify = 1 << 17,
  kQpAltPath = 1 << 18,
  kQpPathMigState = 1 << 19,
  kQpRdd = 1 << 20,
};
inline constexpr std::array<std::string_view, 21> kQpMaskNames{
    "State",   "P_KeyIndex", "Port",      "Access",          "path",
    "PathMTU", "DestQP",     "RqPSN",     "MaxDestRdAtomic", "MinRnrTimer",
    "Timeout", "RetryCount", "RnrRetry",  "SqPSN",           "MaxRdAtomic",
    "Q_Key",   "CurState",   "SqdNotify", "alternate path",  "PathMigState",
    "RDD"};

inline constexpr std::string_view kOfAlternate = "of the alternate path";
inline constexpr std::string_view kSourcePathBits =
    "of the path: SLID is the port's LID plus these, less than 2^LMC";

// The event when a queue pair in SQD is drained (G20.1): none, SQ_DRAINED, or QP_SUSPENDED for a
// driver that suspends the queue pair (AEQ-22).
enum class SqdNotify : u8 { None, Drained, Suspended };

struct QpAttributes {  // ModifyQp, QueryQp
  u32 mask;
  QpState state;
  u8 port;
  Rights access;
  u16 pkey_index;
  u32 path_mtu, dest_qpn, rq_psn, sq_psn, qkey;
  u8 max_rd_atomic, max_dest_rd_atomic, min_rnr_timer;
  u8 timeout, retry_count, rnr_retry;
  // The path:
  u64 dmac, dgid_high, dgid_low;
  u8 sgid_index, traffic_class, hop_limit, sl;
  u32 flow_label;
  u16 dlid, udp_source_port;
  u32 rate_limit;
  u8 path_bits;
  // The alternate path:
  u64 alt_dmac, alt_dgid_high, alt_dgid_low;
  u8 alt_sgid_index, alt_traffic_class, alt_hop_limit, alt_sl;
  u32 alt_flow_label;
  u16 alt_dlid, alt_udp_source_port;
  u32 alt_rate_limit;
  u8 alt_path_bits, alt_port, alt_timeout;
  u16 alt_pkey_index;
  PathMigState path_mig_state;
  // Read only: added by QueryQp.
  u32 sq_posted, sq_completed, rq_posted, rq_consumed, unacked_psn, msn;
  QpState cur_state;  // the state that the host expects
  SqdNotify sqd_notify;
  // Also read only.
  bool sq_draining, waits_rnr, nak_sent;
  u8 credit;  // enum Credit
  u8 retries_left, rnr_retries_left;
  u32 sent_psn, ssn, limit_ssn;
  u32 reads_outstanding, reads_accepted;
  u32 rdd;  // RD
};
template <>
struct Layout<QpAttributes> {
  static constexpr std::string_view name = "QP attributes";
  static constexpr auto fields = make_rows(
      field(&QpAttributes::mask, "Mask", 32, "the given attributes, one bit each, see below"),
      field(&QpAttributes::state, "State", 8,
            "0 Reset, 1 Init, 2 RTR, 3 RTS, 4 SQD, 5 SQE, 6 Error"),
      field(&QpAttributes::port, "Port", 8, "port number, from 1 on"),
      field(&QpAttributes::pkey_index, "P_KeyIndex", 16, "in the P_Key table"), unused(8),
      field(&QpAttributes::dest_qpn, "DestQP", 24,
            "the peer's queue pair; of an EE context: the EE context at its other end"),
      field(&QpAttributes::path_mtu, "PathMTU", 32, "bytes"), unused(8),
      field(&QpAttributes::rq_psn, "RqPSN", 24, "first PSN expected; queried: the next one"),
      unused(8),
      field(&QpAttributes::sq_psn, "SqPSN", 24, "first PSN to send; queried: the next one"),
      field(&QpAttributes::qkey, "Q_Key", 32, "of UD and RD"),
      field(&QpAttributes::max_rd_atomic, "MaxRdAtomic", 8, "READs and ATOMICs in flight"),
      field(&QpAttributes::max_dest_rd_atomic, "MaxDestRdAtomic", 8, "the same as responder"),
      field(&QpAttributes::min_rnr_timer, "MinRnrTimer", 8, "timer code of RNR NAKs"),
      field(&QpAttributes::timeout, "Timeout", 8, "T = 4.096 us * 2^timeout, 0 off"),
      field(&QpAttributes::retry_count, "RetryCount", 8, "0 to 7"),
      field(&QpAttributes::rnr_retry, "RnrRetry", 8, "0 to 6; 7 unlimited"),
      field(&QpAttributes::sgid_index, "SgidIndex", 8, "in the GID table"),
      field(&QpAttributes::sl, "SL", 8, "service level"),
      field(&QpAttributes::traffic_class, "TClass", 8, "of the path"),
      field(&QpAttributes::hop_limit, "HopLimit", 8, "of the path"),
      field(&QpAttributes::dlid, "DLID", 16, "of the path"),
      field(&QpAttributes::flow_label, "FlowLabel", 32, "of the path"),
      field(&QpAttributes::udp_source_port, "UdpSourcePort", 16, kUdpSourcePorts),
      field(&QpAttributes::dmac, "DMAC", 48, "of the path"),
      field(&QpAttributes::dgid_high, "DGIDHigh", 64, "of the path"),
      field(&QpAttributes::dgid_low, "DGIDLow", 64, "of the path"),
      field(&QpAttributes::sq_posted, "SqPosted", 32, "queried: send WQEs begun"),
      field(&QpAttributes::sq_completed, "SqCompleted", 32, "queried: send WQEs completed"),
      field(&QpAttributes::rq_posted, "RqPosted", 32, "queried: receive WQEs posted"),
      field(&QpAttributes::rq_consumed, "RqConsumed", 32, "queried: receive WQEs taken"), unused(8),
      field(&QpAttributes::unacked_psn, "UnackedPSN", 24, "queried: oldest unacknowledged PSN"),
      unused(8), field(&QpAttributes::msn, "MSN", 24, "queried: messages executed as responder"),
      field(&QpAttributes::cur_state, "CurState", 8, "must be the current state"),
      field(&QpAttributes::sqd_notify, "SqdNotify", 2,
            "transition to SQD: when drained raise 1 SQ_DRAINED, 2 QP_SUSPENDED (option "
            "`driver_events`), 0 nothing"),
      field(&QpAttributes::sq_draining, "SqDraining", 1,
            "queried: in SQD, messages are unfinished"),
      field(&QpAttributes::waits_rnr, "WaitsRnr", 1, "queried: waits for the RNR timer"),
      field(&QpAttributes::nak_sent, "NakSent", 1,
            "queried: no further NAK until the expected PSN arrives"),
      unused(1),
      field(&QpAttributes::credit, "Credit", 2,
            "queried: credits of the peer: 0 unknown, 1 limited, 2 unlimited"),
      field(&QpAttributes::retries_left, "RetriesLeft", 8, "queried: remaining of RetryCount"),
      field(&QpAttributes::rnr_retries_left, "RnrRetriesLeft", 8, "queried: remaining of RnrRetry"),
      unused(8),
      field(&QpAttributes::sent_psn, "SentPSN", 24, "queried: next PSN never sent so far"),
      unused(8), field(&QpAttributes::ssn, "SSN", 24, "queried: SSN of the last message begun"),
      unused(8), field(&QpAttributes::limit_ssn, "LimitSSN", 24, "queried: the peer's credits"),
      field(&QpAttributes::reads_outstanding, "ReadsOutstanding", 32,
            "queried: READs and ATOMICs begun whose data are not in memory"),
      field(&QpAttributes::reads_accepted, "ReadsAccepted", 32,
            "queried: READs and ATOMICs accepted as responder"),
      field(&QpAttributes::rate_limit, "RateLimit", 32,
            "of the path, not for UD: kb/s of its requests on the wire; 0: unlimited"),
      unused(16), field(&QpAttributes::access, "Access", 16, "rights, by the table above"),
      unused(1), field(&QpAttributes::path_bits, "PathBits", 7, kSourcePathBits),
      field(&QpAttributes::path_mig_state, "PathMigState", 8,
            "0 Migrated, 1 Rearm, 2 Armed; software sets only 0 and 1"),
      field(&QpAttributes::alt_port, "AltPort", 8,
            "port of the alternate path; queried, 0: none is loaded"),
      field(&QpAttributes::alt_timeout, "AltTimeout", 8, "Timeout after a migration"),
      field(&QpAttributes::alt_pkey_index, "AltP_KeyIndex", 16, "in the P_Key table of its port"),
      field(&QpAttributes::alt_sgid_index, "AltSgidIndex", 8, "in the GID table of its port"),
      field(&QpAttributes::alt_sl, "AltSL", 8, kOfAlternate),
      field(&QpAttributes::alt_traffic_class, "AltTClass", 8, kOfAlternate),
      field(&QpAttributes::alt_hop_limit, "AltHopLimit", 8, kOfAlternate),
      field(&QpAttributes::alt_dlid, "AltDLID", 16, kOfAlternate),
      field(&QpAttributes::alt_flow_label, "AltFlowLabel", 32, kOfAlternate),
      field(&QpAttributes::alt_udp_source_port, "AltUdpSourcePort", 16, kOfAlternate),
      field(&QpAttributes::alt_dmac, "AltDMAC", 48, kOfAlternate),
      field(&QpAttributes::alt_dgid_high, "AltDGIDHigh", 64, kOfAlternate),
      field(&QpAttributes::alt_dgid_low, "AltDGIDLow", 64, kOfAlternate),
      field(&QpAttributes::alt_rate_limit, "AltRateLimit", 32, kOfAlternate), unused(1),
      field(&QpAttributes::alt_path_bits, "AltPathBits", 7, kOfAlternate),
      field(&QpAttributes::rdd, "RDD", 24, "RD domain"));
};
}  // namespace hca::proto

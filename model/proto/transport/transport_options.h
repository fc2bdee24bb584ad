// SPDX-License-Identifier: Apache-2.0
// One option for each point that the specification leaves open, describes in two ways, or leaves to
// the vendor. The defaults follow the text where it decides.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/capabilities.h"

namespace hca::proto {
// G2.5: the treatment of a packet after one that drew an RNR NAK.
enum class GapAfterRnr : u8 { Drop, Nak };
inline constexpr std::array<std::string_view, 2> kGapAfterRnrNames{"drop", "nak"};

// G3.6: a duplicate READ must be a part of a held one, or is executed again whatever it requests.
enum class DupReadCheck : u8 { HeldEntry, Reexecute };
inline constexpr std::array<std::string_view, 2> kDupReadCheckNames{"held_entry", "reexecute"};
// G3.6: the answer to a duplicate READ whose key is no longer valid. The NAK fails the queue pair;
// MSN and ePSN stay.
enum class DupReadBadKey : u8 { Drop, Nak };
inline constexpr std::array<std::string_view, 2> kDupReadBadKeyNames{"drop", "nak"};

// G26.2: the default of the shortest time between two CNPs of a queue pair.
inline constexpr u64 kCnpIntervalNs = 50'000;

// G6.3: how much of the SEND just beyond the limit may leave before there is credit. A WRITE with
// Immediate may leave as a whole, because only its last packet takes a receive WQE.
enum class CreditProbe : u8 { Message, FirstPacket };
inline constexpr std::array<std::string_view, 2> kCreditProbeNames{"message", "first_packet"};
// G6.4: how many messages that take a receive WQE may leave before the first ACK.
enum class InitialCredits : u8 { Any, One };
inline constexpr std::array<std::string_view, 2> kInitialCreditsNames{"any", "one"};

// T5: NAK codes 6 to 31.
enum class ReservedNak : u8 { Drop, Fail };
inline constexpr std::array<std::string_view, 2> kReservedNakNames{"drop", "fail"};

// T13: the work that a queue pair in SQD still finishes: the messages already begun, or all work
// requests already posted (the two readings; [U]).
enum class SqdDrains : u8 { Begun, Posted };
inline constexpr std::array<std::string_view, 2> kSqdDrainsNames{"begun", "posted"};

// G23.1: when the WQEs of an SRQ are compared with its limit: as each is taken, or also when the
// limit is set ([U]).
enum class SrqLimitTest : u8 { Take, Set };
inline constexpr std::array<std::string_view, 2> kSrqLimitTestNames{"take", "set"};

// G24.3: the PD for the R_Keys of XRC requests: the PD of the SRQ, or the PD of the queue pair's
// domain ([U]).
enum class XrcPd : u8 { Srq, TgtDomain };
inline constexpr std::array<std::string_view, 2> kXrcPdNames{"srq", "tgt_domain"};
// G24.5: the answer when later packets of an XRC message name another SRQ than the first one: NAK
// 0x64, or none, because the SRQ of the first packet decides ([U]).
enum class XrcSrqChange : u8 { Refuse, Ignore };
inline constexpr std::array<std::string_view, 2> kXrcSrqChangeNames{"refuse", "ignore"};

// o9-152: a requester whose retries are exhausted may migrate to an armed alternate path and retry
// there, or report the error at once.
enum class ExhaustedRetries : u8 { Migrate, Report };
inline constexpr std::array<std::string_view, 2> kExhaustedRetriesNames{"migrate", "report"};
// G17.3: a migration request that does not match the alternate path may raise PATH_MIG_ERR.
enum class RefusedMigration : u8 { Event, Silent };
inline constexpr std::array<std::string_view, 2> kRefusedMigrationNames{"event", "silent"};
// EXT-5: how a GET asks again for the rest of its response: the original request with the Offset of
// the rest, or a GET of the rest alone, as a READ does ([U]).
enum class ExtendedRetry : u8 { Offset, Rest };
inline constexpr std::array<std::string_view, 2> kExtendedRetryNames{"offset", "rest"};
// EXT-5: a new GET whose Offset is not 0, though none of it is executed: refused, or answered from
// its Offset on ([U]).
enum class NewGetOffset : u8 { Refuse, Take };
inline constexpr std::array<std::string_view, 2> kNewGetOffsetNames{"refuse", "take"};
// EXT-4: a PUT whose Response Data Length is not 0, though it returns nothing ([U]).
enum class PutResponseLength : u8 { Ignore, Refuse };
inline constexpr std::array<std::string_view, 2> kPutResponseLengthNames{"ignore", "refuse"};
// EXT-3: a later packet of a PUT whose RETH is not that of the first one: refused, or placed where
// the first one says ([U]). Its Offset and DMALen must continue the message in both.
enum class PutChange : u8 { Refuse, Ignore };
inline constexpr std::array<std::string_view, 2> kPutChangeNames{"refuse", "ignore"};
// ERR-30: RD errors for which class B or F may be chosen: the receive WQE completes in error, or it
// stays in its queue ([U] for some rows of T10).
enum class RdErrorClass : u8 { F, B };
inline constexpr std::array<std::string_view, 2> kRdErrorClassNames{"f", "b"};
// G13.3, G9.3: the receive WQE of a message that a RESYNC aborts: it completes with REM_ABORT_ERR, or
// stays in its queue.
enum class RdAbort : u8 { Complete, Keep };
inline constexpr std::array<std::string_view, 2> kRdAbortNames{"complete", "keep"};
// T9-2, T9-4, T9-6: exhausted retries of RD are of class D (the EE context enters Error) or B ([U]).
enum class RdRetryClass : u8 { D, B };
inline constexpr std::array<std::string_view, 2> kRdRetryClassNames{"d", "b"};
// Class B: the state of an RD queue pair whose send WQE ended in error ([U]).
enum class RdSendError : u8 { Sqe, Error };
inline constexpr std::array<std::string_view, 2> kRdSendErrorNames{"sqe", "error"};
// o9-23.2.1, G13.3: a RESYNC concerns its EE context alone, or it must name a queue pair that could
// take a request, as the letter says of each request ([U]).
enum class RdResyncQueue : u8 { Any, Valid };
inline constexpr std::array<std::string_view, 2> kRdResyncQueueNames{"any", "valid"};
// o9-151, G13.4: RNR NAKs are counted for each message, or by the EE context, whose counter each
// other acknowledgement loads anew ([U]).
enum class RdRnrCount : u8 { Message, Context };
inline constexpr std::array<std::string_view, 2> kRdRnrCountNames{"message", "context"};
// VAL-10: the P_Key of the NAK of a Q_Key violation: that of the EE context, or of the request.
enum class RdQkeyNakPkey : u8 { Context, Request };
inline constexpr std::array<std::string_view, 2> kRdQkeyNakPkeyNames{"context", "request"};

// The reaction of a connection to a lost packet (recovery.h). Selective repeat is an extension of
// this model: no specification has it.
enum class Recovery : u8 { GoBackN, SelectiveRepeat };
inline constexpr std::array<std::string_view, 2> kRecoveryNames{"go_back_n", "selective_repeat"};
// Selective repeat: the most packets that a responder keeps, from the one that it expects on.
inline constexpr u32 kMostReordered = 512;

struct TransportOptions : Capabilities {
  bool credits = true;
  GapAfterRnr gap_after_rnr = GapAfterRnr::Drop;
  DupReadCheck dup_read_check = DupReadCheck::HeldEntry;
  DupReadBadKey dup_read_bad_key = DupReadBadKey::Drop;
  CreditProbe credit_probe = CreditProbe::Message;
  InitialCredits initial_credits = InitialCredits::Any;
  ReservedNak reserved_nak = ReservedNak::Drop;
  SqdDrains sqd_drains = SqdDrains::Begun;
  SrqLimitTest srq_limit_test = SrqLimitTest::Take;
  XrcPd xrc_pd = XrcPd::Srq;
  XrcSrqChange xrc_srq_change = XrcSrqChange::Refuse;
  ExhaustedRetries exhausted_retries = ExhaustedRetries::Migrate;
  RefusedMigration refused_migration = RefusedMigration::Event;
  ExtendedRetry extended_retry = ExtendedRetry::Offset;
  NewGetOffset new_get_offset = NewGetOffset::Refuse;
  PutResponseLength put_response_length = PutResponseLength::Ignore;
  PutChange put_change = PutChange::Refuse;
  RdErrorClass rd_error_class = RdErrorClass::F;
  RdAbort rd_abort = RdAbort::Complete;
  RdRetryClass rd_retry_class = RdRetryClass::D;
  RdSendError rd_send_error = RdSendError::Sqe;
  RdResyncQueue rd_resync_queue = RdResyncQueue::Any;
  RdRnrCount rd_rnr_count = RdRnrCount::Message;
  RdQkeyNakPkey rd_qkey_nak_pkey = RdQkeyNakPkey::Context;
  // G26.1; without it FECN is ignored and BECN 0 (G26.3, C9-6).
  bool congestion_control = false;
  // G25.3: a multicast datagram also reaches the members at the sending port ([U]).
  bool multicast_loop_back = true;
  // AEQ-10, AEQ-22: asynchronous entries have the state of their queue pair, and ModifyQp can ask
  // for QP_SUSPENDED.
  bool driver_events = false;
  // SetPort takes the states and the LMC that a subnet manager sets.
  bool managed_ports = false;
  Recovery recovery = Recovery::GoBackN;
  u16 reorder_window = kMostReordered;  // of selective repeat, at both ends; packets
};
}  // namespace hca::proto

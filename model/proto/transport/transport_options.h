// SPDX-License-Identifier: Apache-2.0
// What the specification leaves open, says in two ways, or leaves to the maker of a device: one
// option each. The defaults are what the text says, where it says something.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/interface/capabilities.h"

namespace hca::proto {
// G2.5: what becomes of a packet behind one that drew an RNR NAK.
enum class GapAfterRnr : u8 { Drop, Nak };
inline constexpr std::array<std::string_view, 2> kGapAfterRnrNames{"drop", "nak"};

// G3.6: a duplicate READ must be a part of one that is held, or is executed again whatever it asks
// for.
enum class DupReadCheck : u8 { HeldEntry, Reexecute };
inline constexpr std::array<std::string_view, 2> kDupReadCheckNames{"held_entry", "reexecute"};
// G3.6: what a duplicate READ gets whose key is not good any more. The NAK fails the queue pair;
// MSN and ePSN stay.
enum class DupReadBadKey : u8 { Drop, Nak };
inline constexpr std::array<std::string_view, 2> kDupReadBadKeyNames{"drop", "nak"};

// G26.2: the shortest time between two CNPs of a queue pair, as long as nothing else is asked for.
inline constexpr u64 kCnpIntervalNs = 50'000;

// G6.3: what may leave of the SEND just beyond the limit before there is credit. Of a WRITE with
// Immediate, which takes its receive WQE by its last packet, all may.
enum class CreditProbe : u8 { Message, FirstPacket };
inline constexpr std::array<std::string_view, 2> kCreditProbeNames{"message", "first_packet"};
// G6.4: how many messages that take a receive WQE may leave before the first ACK.
enum class InitialCredits : u8 { Any, One };
inline constexpr std::array<std::string_view, 2> kInitialCreditsNames{"any", "one"};

// T5: NAK codes 6 to 31.
enum class ReservedNak : u8 { Drop, Fail };
inline constexpr std::array<std::string_view, 2> kReservedNakNames{"drop", "fail"};

// T13: what a queue pair that enters SQD still does: the messages that are begun, or all work
// requests that are posted by then (the two readings; [U]).
enum class SqdDrains : u8 { Begun, Posted };
inline constexpr std::array<std::string_view, 2> kSqdDrainsNames{"begun", "posted"};

// G23.1: when the WQEs of an SRQ are compared with its limit: as each is taken, or also as the
// limit is set ([U]).
enum class SrqLimitTest : u8 { Take, Set };
inline constexpr std::array<std::string_view, 2> kSrqLimitTestNames{"take", "set"};

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
  // G26.1; without it FECN is ignored and BECN 0 (G26.3, C9-6).
  bool congestion_control = false;
  // G25.3: a datagram to a group also reaches the members at the port that sends it ([U]).
  bool multicast_loop_back = true;
};
}  // namespace hca::proto

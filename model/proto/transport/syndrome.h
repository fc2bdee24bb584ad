// SPDX-License-Identifier: Apache-2.0
// The AETH syndrome byte, its credit codes and its RNR timer codes (T5).
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "model/proto/types.h"

namespace hca::proto {

// Bits 7:5 of the syndrome.
enum class SyndromeKind : u8 { Ack, RnrNak, Reserved, Nak };

enum class NakCode : u8 {
  PsnSequenceError = 0,
  InvalidRequest = 1,
  RemoteAccessError = 2,
  RemoteOperationalError = 3,
  InvalidRdRequest = 4,  // on XRC: domain or XRCETH error
  OperationInProgress = 5,
};

// Used only by selective repeat (recovery.h); a reserved code otherwise.
inline constexpr NakCode kSelectiveNak{31};

struct NakRow {
  NakCode code;
  std::string_view name;
};
inline constexpr std::array kNakRows{
    NakRow{NakCode::PsnSequenceError, "PSN Sequence Error"},
    NakRow{NakCode::InvalidRequest, "Invalid Request"},
    NakRow{NakCode::RemoteAccessError, "Remote Access Error"},
    NakRow{NakCode::RemoteOperationalError, "Remote Operational Error"},
    NakRow{NakCode::InvalidRdRequest, "Invalid RD Request"},
    NakRow{NakCode::OperationInProgress, "Operation in Progress"},
};

constexpr SyndromeKind syndrome_kind(u8 syndrome) {
  if (syndrome & 0x80) return SyndromeKind::Reserved;
  return SyndromeKind(syndrome >> 5 & 3);
}
constexpr u8 syndrome_value(u8 syndrome) { return syndrome & 0x1F; }  // bits 4:0

constexpr u8 ack_syndrome(u8 credit_code) { return u8(credit_code & 0x1F); }
constexpr u8 rnr_syndrome(u8 timer_code) { return u8(0x20 | (timer_code & 0x1F)); }
constexpr u8 nak_syndrome(NakCode code) { return u8(0x60 | u8(code)); }

// Receive WQEs available, by credit code; code 31 means that credits are not used.
inline constexpr u8 kCreditsUnused = 31;
inline constexpr std::array<u32, 31> kCredits{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

constexpr u32 credits_of(u8 code) {  // code 0..30
  return kCredits[code];
}

// The code of the largest count that is at most `available`.
constexpr u8 credit_code(u32 available) {
  // Each power of two has two codes: search downwards from a code that is not too low.
  u8 code =
      u8(std::min<std::size_t>(2 * std::size_t(std::bit_width(available)), kCredits.size() - 1));
  while (credits_of(code) > available) --code;
  return code;
}

// Minimum wait after an RNR NAK, in units of 10 us, by timer code; code 0 is the longest.
inline constexpr std::array<u32, 32> kRnrDelays{
    65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
    48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
    2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

constexpr u64 rnr_delay_ns(u8 code) { return u64{kRnrDelays[code & 0x1F]} * 10'000; }

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// PSN arithmetic modulo 2^24 and the regions around the expected PSN (T6).
#pragma once
#include <algorithm>
#include <array>
#include <bit>

#include "model/proto/types.h"

namespace hca::proto {

using Psn = u32;  // 24 bits

inline constexpr u32 kPsnModulus = 1u << 24;
inline constexpr Psn kPsnMask = kPsnModulus - 1;
// The maximum number of PSNs that a requester has outstanding, from its oldest unacknowledged one
// on.
inline constexpr u32 kPsnWindow = 1u << 23;

constexpr Psn psn_add(Psn psn, u32 n) { return (psn + n) & kPsnMask; }
constexpr Psn psn_sub(Psn psn, u32 n) { return (psn - n) & kPsnMask; }

// The signed distance from `from` to `to`: -2^23 .. 2^23-1.
constexpr std::int32_t psn_distance(Psn from, Psn to) {
  return std::int32_t((to - from) << 8) >> 8;
}

enum class PsnRegion : u8 { Expected, Ahead, Duplicate };

constexpr PsnRegion psn_region(Psn received, Psn expected) {
  const std::int32_t d = psn_distance(expected, received);
  return d == 0 ? PsnRegion::Expected : d > 0 ? PsnRegion::Ahead : PsnRegion::Duplicate;
}

// The path MTUs, bytes of payload.
inline constexpr std::array<u32, 5> kPathMtus{256, 512, 1024, 2048, 4096};
constexpr bool is_mtu(u32 bytes) { return std::ranges::find(kPathMtus, bytes) != kPathMtus.end(); }

// The number of PSNs of a SEND or WRITE of `bytes`, or of the responses of a READ. `pmtu`: a power
// of two.
constexpr u32 psns_of(u64 bytes, u32 pmtu) {
  return bytes == 0 ? 1 : u32((bytes + pmtu - 1) >> std::countr_zero(pmtu));
}

}  // namespace hca::proto

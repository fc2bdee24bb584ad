// SPDX-License-Identifier: Apache-2.0
// The RTL blocks, and a set of them.
#pragma once
#include <array>
#include <string_view>

#include "model/proto/types.h"

namespace hca::testbench {
enum class RtlBlock : u8 {
  Icrc,
  Packetizer,
  RxParser,
  ResponderCheck,
  RequesterPsn,
  Completion,
  Count
};
inline constexpr std::array<std::string_view, std::size_t(RtlBlock::Count)> kRtlBlockNames{
    "icrc", "packetizer", "rx_parser", "responder_check", "requester_psn", "completion"};

struct RtlSet {
  u32 bits = 0;  // one per block, in their order

  constexpr bool any() const { return bits; }
  constexpr bool has(RtlBlock block) const { return bits >> unsigned(block) & 1; }
  constexpr void add(RtlBlock block) { bits |= 1u << unsigned(block); }
};
}  // namespace hca::testbench

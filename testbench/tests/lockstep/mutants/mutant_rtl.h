// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "testbench/lockstep/completion_lockstep.h"
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/packetizer_lockstep.h"
#include "testbench/lockstep/requester_psn_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"

namespace hca::testbench {
// An RTL block with deliberate mistakes.
template <class Pair>
struct Mutants {
  static std::span<const std::string_view> names();
  // With mistake `mutant` of these, from 1 on; 0: none. Bytes of a beat: 32 or 64.
  static rtl::BlockRtl<typename Pair::In, typename Pair::Out> make(u32 beat_bytes, u32 mutant,
                                                                   bool assertions);
};
}  // namespace hca::testbench

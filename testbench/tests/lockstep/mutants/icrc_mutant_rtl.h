// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "rtl/icrc_rtl.h"

namespace hca::testbench {
// The mistakes of icrc.txt.
std::span<const std::string_view> icrc_mutants();

// rtl/icrc.sv with mistake `mutant` of these, from 1 on; 0: none. Bytes of a beat: 32 or 64.
class IcrcMutantRtl : public rtl::IcrcBlock {
 public:
  IcrcMutantRtl(u32 beat_bytes, u32 mutant, bool assertions);
};
}  // namespace hca::testbench

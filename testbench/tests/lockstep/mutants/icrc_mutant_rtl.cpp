// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/lockstep/mutants/icrc_mutant_rtl.h"

#include <Vicrc_mutants_256.h>  // made by Verilator
#include <Vicrc_mutants_512.h>
#include <icrc_mutants.h>  // made by scripts/rtl_mutants.py

#include "rtl/verilated_block.h"

namespace hca::testbench {
namespace {
using Block = rtl::VerilatedBlock<rtl::BeatControl, rtl::BeatControl>;

template <class Top>
std::unique_ptr<Block> make(u32 mutant, bool assertions) {
  auto block = std::make_unique<rtl::VerilatedTop<Top, rtl::BeatControl, rtl::BeatControl>>("icrc");
  block->top().mutant_i = u8(mutant);
  block->top().contextp()->assertOn(assertions);
  return block;
}
}  // namespace

std::span<const std::string_view> icrc_mutants() { return kIcrcMutants; }

IcrcMutantRtl::IcrcMutantRtl(u32 beat_bytes, u32 mutant, bool assertions)
    : BlockRtl(beat_bytes, beat_bytes == 32 ? make<Vicrc_mutants_256>(mutant, assertions)
                                            : make<Vicrc_mutants_512>(mutant, assertions)) {}
}  // namespace hca::testbench

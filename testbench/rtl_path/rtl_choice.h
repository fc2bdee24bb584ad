// SPDX-License-Identifier: Apache-2.0
// The units of a chip that RTL blocks replace.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "testbench/lockstep/rtl_set.h"

namespace hca::blocks {
struct ChipConfig;
struct StandIns;
}  // namespace hca::blocks

namespace hca::testbench {
class RtlChoice : public RtlSet {
 public:
  // Adds comma-separated names, or "all". Returns the problem as a sentence without its key; empty:
  // they are added.
  std::string add(std::string_view names);
  std::string text() const;  // in the form that add() reads
  static constexpr RtlChoice of(u32 bits) {
    RtlChoice choice;
    choice.bits = bits;
    return choice;
  }
  static constexpr RtlChoice all() { return of((1u << unsigned(RtlBlock::Count)) - 1); }
};

// A knob of a chip that differs from the chosen RTL.
struct RtlMistake {
  std::string knob;  // "icrc_unit.latency"
  std::string problem, allowed;
};
std::vector<RtlMistake> rtl_mistakes(RtlChoice choice, const blocks::ChipConfig& config);
// True if this program contains the RTL blocks.
bool has_rtl();
// The chosen RTL of one chip, for Hca::replace(); it lives as long as the pointer. nullptr: none is
// chosen. Throws std::invalid_argument for the problems that rtl_mistakes() lists, and in a program
// without RTL.
std::shared_ptr<const blocks::StandIns> make_rtl_path(RtlChoice choice,
                                                      const blocks::ChipConfig& config);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Which units of a chip RTL blocks stand in for.
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
  // What is wrong, as a sentence without its key; empty: they are added. Names with commas between
  // them, or "all".
  std::string add(std::string_view names);
  std::string text() const;  // as it is read
  static constexpr RtlChoice of(u32 bits) {
    RtlChoice choice;
    choice.bits = bits;
    return choice;
  }
  static constexpr RtlChoice all() { return of((1u << unsigned(RtlBlock::Count)) - 1); }
};

// Knobs of a chip that are not as the chosen RTL has them.
struct RtlMistake {
  std::string knob;  // "icrc_unit.latency"
  std::string problem, allowed;
};
std::vector<RtlMistake> rtl_mistakes(RtlChoice choice, const blocks::ChipConfig& config);
// Whether this program has the RTL blocks at all.
bool has_rtl();
// The chosen RTL of one chip, for Hca::replace(); it lives as long as the pointer. nullptr: none is
// chosen. Throws std::invalid_argument for what rtl_mistakes() tells, and without RTL.
std::shared_ptr<const blocks::StandIns> make_rtl_path(RtlChoice choice,
                                                      const blocks::ChipConfig& config);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The functions of a program that links the RTL blocks.
#include <fmt/format.h>

#include <stdexcept>

#include "testbench/lockstep/rtl_path.h"
#include "testbench/rtl_path/rtl_choice.h"

namespace hca::testbench {
bool has_rtl() { return true; }

std::shared_ptr<const blocks::StandIns> make_rtl_path(RtlChoice choice,
                                                      const blocks::ChipConfig& config) {
  if (!choice.any()) return nullptr;
  for (const RtlMistake& m : rtl_mistakes(choice, config))
    throw std::invalid_argument(fmt::format("{}: {}; allowed: {}", m.knob, m.problem, m.allowed));
  const auto path = std::make_shared<RtlPath>(choice, config);
  return {path, &path->stand_ins()};
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Conditions that knobs of chips, link and connection must satisfy together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::testbench {
struct ChipMistake {
  std::vector<std::string_view> knobs;  // suffixes of the paths involved: ".core.clock"
  std::string problem;                  // including the allowed values
};
std::vector<ChipMistake> chip_mistakes(const Scenario& scenario);
}  // namespace hca::testbench

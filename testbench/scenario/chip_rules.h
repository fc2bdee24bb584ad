// SPDX-License-Identifier: Apache-2.0
// What knobs of chips, link and connection must hold together.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::testbench {
struct ChipMistake {
  std::vector<std::string_view> knobs;  // ends of the paths that it comes from: ".core.clock"
  std::string problem;                  // with what is allowed
};
std::vector<ChipMistake> chip_mistakes(const Scenario& scenario);
}  // namespace hca::testbench

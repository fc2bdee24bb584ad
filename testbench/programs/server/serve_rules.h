// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::attach {
// Keys of a scenario that a server cannot honour: one line each, with the place of the key.
// `records`: it has an output directory.
std::vector<std::string> serve_mistakes(const testbench::Scenario& scenario, bool records);
}  // namespace hca::attach

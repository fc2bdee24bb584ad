// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::attach {
// Keys of a scenario that a server of programs cannot do as they say: one line each, with where the
// key stands. `records`: it has a directory to write to.
std::vector<std::string> serve_mistakes(const testbench::Scenario& scenario, bool records);
}  // namespace hca::attach

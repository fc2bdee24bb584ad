// SPDX-License-Identifier: Apache-2.0
// Checks that the HCAs of a scenario can have all objects that its workloads need.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::testbench {
struct ObjectMistake {
  std::size_t entry;      // the first entry of the workload list that exceeds the limit
  std::string_view key;   // of the entry, with its dot; empty: the whole entry
  std::string_view knob;  // the limiting knob: ".core.max_qps"; empty: none
  std::string problem;    // including the allowed values
};
std::vector<ObjectMistake> object_mistakes(const Scenario& scenario);
}  // namespace hca::testbench

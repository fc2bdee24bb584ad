// SPDX-License-Identifier: Apache-2.0
// Whether the HCAs of a scenario may have the objects that its workloads need.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::testbench {
struct ObjectMistake {
  std::size_t entry;      // of the workload list, with which they are too many
  std::string_view key;   // of the entry, with its dot; empty: all of it
  std::string_view knob;  // that bounds them: ".core.max_qps"; empty: none
  std::string problem;    // with what is allowed
};
std::vector<ObjectMistake> object_mistakes(const Scenario& scenario);
}  // namespace hca::testbench

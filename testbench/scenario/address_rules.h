// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/scenario/workload_rules.h"

namespace hca::testbench {
// What is wrong with the working set of an entry that is valid otherwise and has its sizes settled.
std::vector<WorkloadMistake> address_mistakes(const Scenario& scenario,
                                              const WorkloadConfig& workload);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <vector>

#include "testbench/scenario/scenario.h"

namespace hca::testbench {
// The keys of a workload entry that a scenario gives: "from", "mix.read", "sizes[0].size".
using GivenKeys = std::set<std::string, std::less<>>;

// A problem of an entry that no single value shows.
struct WorkloadMistake {
  std::string key, problem, allowed;
};
std::vector<WorkloadMistake> mistakes_in(const Scenario& scenario, const WorkloadConfig& workload,
                                         const GivenKeys& given);
// T4: true if a service has all its operations.
bool has_operations(proto::Service service, const WorkloadConfig& workload);
// For a valid entry: sets `from` and `to` from `size`, `sizes` or the operation.
void settle_sizes(WorkloadConfig& workload, const GivenKeys& given);
}  // namespace hca::testbench

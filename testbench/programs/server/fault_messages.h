// SPDX-License-Identifier: Apache-2.0
// Messages between `hca faults` and a server: the lists `faults` and `fail`, entry by entry.
#pragma once
#include "testbench/programs/server/protocol.h"
#include "testbench/scenario/scenario.h"

namespace hca::attach {
// Indices count the entries of `faults` first, then those of `fail`.
struct FaultReport {
  u32 faults = 0, fails = 0, ports = 0;  // number of entries
  testbench::FaultConfig fault;          // at this index
  FailConfig fail;
  u64 seen = 0, done = 0;  // frames, calls or completions that matched; number affected
};
static_assert(kFitsBody<FaultReport> && kFitsBody<testbench::FaultConfig> && kFitsBody<FailConfig>);
}  // namespace hca::attach

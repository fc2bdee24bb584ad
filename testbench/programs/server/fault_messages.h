// SPDX-License-Identifier: Apache-2.0
// What `hca faults` asks a server: the lists `faults` and `fail`, entry by entry.
#pragma once
#include "testbench/programs/server/protocol.h"
#include "testbench/scenario/scenario.h"

namespace hca::attach {
// The places are those of `faults`, and then those of `fail`.
struct FaultReport {
  u32 faults = 0, fails = 0, ports = 0;  // how many there are
  testbench::FaultConfig fault;          // at this place
  FailConfig fail;
  u64 seen = 0, done = 0;  // frames, calls or completions that matched; how many were hit
};
static_assert(kFitsBody<FaultReport> && kFitsBody<testbench::FaultConfig> && kFitsBody<FailConfig>);
}  // namespace hca::attach

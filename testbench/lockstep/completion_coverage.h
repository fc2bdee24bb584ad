// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/completion_stimulus.h"
#include "testbench/lockstep/coverage.h"

namespace hca::testbench {
// Coverage of the steps that have passed rtl/completion/completion.sv.
class CompletionCoverage : public BinCoverage {
 public:
  explicit CompletionCoverage(u32 beat_bytes = 64);
  void count(const CompletionPacket& p);

 private:
  void count_cqe(const CompletionPacket& p);
  void count_doorbell(const CompletionPacket& p);

  // The first bins of the groups after the first one.
  u64 places_ = 0, rooms_ = 0, kinds_ = 0, statuses_ = 0, wraps_ = 0, bells_ = 0, hazards_ = 0;
};
}  // namespace hca::testbench

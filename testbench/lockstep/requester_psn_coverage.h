// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/coverage.h"
#include "testbench/lockstep/requester_psn_stimulus.h"

namespace hca::testbench {
// Coverage of the steps that have passed rtl/requester_psn/requester_psn.sv.
class RequesterPsnCoverage : public BinCoverage {
 public:
  explicit RequesterPsnCoverage(u32 beat_bytes = 64);
  void count(const RequesterPsnPacket& p);

 private:
  void count_message(const RequesterPsnPacket& p);
  void count_packet(const RequesterPsnPacket& p);
  void count_answer(const RequesterPsnPacket& p);

  // The first bins of the groups after the first one.
  u64 lengths_ = 0, windows_ = 0, packets_ = 0, answers_ = 0, returns_ = 0, hazards_ = 0,
      contexts_ = 0, replaced_ = 0;
};
}  // namespace hca::testbench

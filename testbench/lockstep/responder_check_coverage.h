// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/coverage.h"
#include "testbench/lockstep/responder_check_stimulus.h"

namespace hca::testbench {
// Coverage of the requests that have passed rtl/responder_check/responder_check.sv.
class ResponderCheckCoverage : public BinCoverage {
 public:
  explicit ResponderCheckCoverage(u32 beat_bytes = 64);
  void count(const ResponderCheckPacket& p);

 private:
  void count_rd(const ResponderCheckPacket& p);

  // The first bins of the groups after the first one.
  u64 late_ = 0, psns_ = 0, hazards_ = 0, shared_ = 0, rd_taken_ = 0, rd_ended_ = 0, rd_named_ = 0,
      syndromes_ = 0;
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/coverage.h"
#include "testbench/lockstep/icrc_stimulus.h"

namespace hca::testbench {
// Coverage of the packets that have passed rtl/icrc/icrc.sv. A frame with an Ethernet header has no
// bad VCRC.
class IcrcCoverage : public BinCoverage {
 public:
  explicit IcrcCoverage(u32 beat_bytes = 64);
  void count(const IcrcPacket& p);

 private:
  u32 beat_bytes_;
  u64 ends_from_ = 0, sizes_from_ = 0,
      specials_from_ = 0;  // the first bins of the second and the third group
};
}  // namespace hca::testbench

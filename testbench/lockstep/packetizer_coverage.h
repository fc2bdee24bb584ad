// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/coverage.h"
#include "testbench/lockstep/packetizer_stimulus.h"

namespace hca::testbench {
// Coverage of the packets that have passed rtl/packetizer/packetizer.sv.
class PacketizerCoverage : public BinCoverage {
 public:
  explicit PacketizerCoverage(u32 beat_bytes = 64);
  void count(const PacketizerPacket& p);

 private:
  u32 beat_bytes_;
  u64 ends_from_ = 0, sizes_from_ = 0;  // the first bins of these groups
};
}  // namespace hca::testbench

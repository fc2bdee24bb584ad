// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/lockstep/coverage.h"
#include "testbench/lockstep/rx_parser_stimulus.h"

namespace hca::testbench {
// Coverage of the frames that have passed rtl/rx_parser/rx_parser.sv.
class RxParserCoverage : public BinCoverage {
 public:
  explicit RxParserCoverage(u32 beat_bytes = 64);
  void count(const RxParserPacket& p);

 private:
  u32 beat_bytes_;
  u64 verdicts_from_ = 0, of_rd_from_ = 0, ends_from_ = 0;  // the first bins of the other groups
};
}  // namespace hca::testbench

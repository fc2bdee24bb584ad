// SPDX-License-Identifier: Apache-2.0
// The RTL blocks in the path of one chip.
#pragma once
#include <memory>

#include "model/blocks/chip_config.h"
#include "model/blocks/lib/stand_in.h"
#include "testbench/lockstep/rtl_set.h"

namespace hca::testbench {
class RtlPath {
 public:
  // `config` holds the values that the RTL fixes: see rtl_mistakes().
  RtlPath(RtlSet choice, const blocks::ChipConfig& config);
  ~RtlPath();
  const blocks::StandIns& stand_ins() const { return stand_ins_; }

 private:
  struct Blocks;
  std::unique_ptr<Blocks> blocks_;
  blocks::StandIns stand_ins_;
};
}  // namespace hca::testbench

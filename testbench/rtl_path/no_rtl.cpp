// SPDX-License-Identifier: Apache-2.0
// In the place of with_rtl.cpp, in a program that does not link the RTL blocks.
#include "testbench/rtl_path/rtl_choice.h"
#include "testbench/text/missing_part.h"

namespace hca::testbench {
bool has_rtl() { return false; }

std::shared_ptr<const blocks::StandIns> make_rtl_path(RtlChoice choice, const blocks::ChipConfig&) {
  if (choice.any()) throw MissingPart("rtl", "rtl");
  return nullptr;
}
}  // namespace hca::testbench

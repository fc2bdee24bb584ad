// SPDX-License-Identifier: Apache-2.0
// Instructions of the program that were overwritten: they trap, and this library does what they do.
#pragma once
#include "testbench/programs/time_library/code.h"

namespace hca::time_library {
// HLT, which no program may execute, in the place of their first byte.
void overwrite_all(Site site);
struct Overwritten {
  u64 address = 0;
  unsigned bytes = 0;  // 0: there is none
  Site site = Site::TimeStamp;
  u64 as_before = 0;  // of a system call: code that makes it, and goes on after it
};
// May be called in a fault.
Overwritten overwritten_at(u64 address);
}  // namespace hca::time_library

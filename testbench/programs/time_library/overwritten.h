// SPDX-License-Identifier: Apache-2.0
// Overwritten instructions of the program: they trap, and this library performs their function.
#pragma once
#include "testbench/programs/time_library/code.h"

namespace hca::time_library {
// Replaces their first byte by HLT, which no user program may execute.
void overwrite_all(Site site);
struct Overwritten {
  u64 address = 0;
  unsigned bytes = 0;  // 0: there is none
  Site site = Site::TimeStamp;
  u64 as_before = 0;  // for a system call: code that executes it, and continues after it
};
// Safe to call in a fault handler.
Overwritten overwritten_at(u64 address);
}  // namespace hca::time_library

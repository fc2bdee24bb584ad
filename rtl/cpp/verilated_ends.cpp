// SPDX-License-Identifier: Apache-2.0
// What Verilator calls when RTL ends the simulation, in the place of its own functions, which end
// the program, one of them with exit code 0. VerilatedTop looks at what is noted here.
#include <verilated.h>

#include <cstdio>

#include "rtl/cpp/verilated_ends.h"

void vl_finish(const char* file, int line, const char*) {
  Verilated::threadContextp()->gotFinish(true);
  std::printf("%s:%d: $finish in the RTL\n", file, line);
}

// Signals that do not settle among others: there is no way on.
void vl_fatal(const char* file, int line, const char*, const char* message) {
  Verilated::threadContextp()->gotFinish(true);
  std::printf("%%Error: %s:%d: %s\n", file, line, message);
  throw hca::rtl::RtlEnded();
}

// SPDX-License-Identifier: Apache-2.0
// The functions that Verilator calls when the RTL ends the simulation. They replace Verilator's
// own, which end the program, one of them with exit code 0. VerilatedTop checks the flag that they
// set.
#include <verilated.h>

#include <cstdio>

#include "rtl/cpp/verilated_ends.h"

void vl_finish(const char* file, int line, const char*) {
  Verilated::threadContextp()->gotFinish(true);
  std::printf("%s:%d: $finish in the RTL\n", file, line);
}

// Called for signals that do not settle, among other causes: the evaluation cannot continue.
void vl_fatal(const char* file, int line, const char*, const char* message) {
  Verilated::threadContextp()->gotFinish(true);
  std::printf("%%Error: %s:%d: %s\n", file, line, message);
  throw hca::rtl::RtlEnded();
}

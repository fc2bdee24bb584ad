// SPDX-License-Identifier: Apache-2.0
// Catch2 itself: compiled once per build, it takes longer than all of our tests of one layer.
#define CATCH_CONFIG_RUNNER
#include <malloc.h>

#include <catch2/catch.hpp>

#include "testbench/tests/catch_session.h"

int run_catch_session(int argc, char** argv) {
  // The memories of a test's chips and hosts go to those of the next: given back to the kernel,
  // their pages would be two thirds of the time of the tests of blocks.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  return Catch::Session().run(argc, argv);
}

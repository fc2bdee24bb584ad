// SPDX-License-Identifier: Apache-2.0
// Catch2 itself: compiled once per build, it takes longer than all of our tests of one layer.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "testbench/tests/catch_session.h"

int run_catch_session(int argc, char** argv) { return Catch::Session().run(argc, argv); }

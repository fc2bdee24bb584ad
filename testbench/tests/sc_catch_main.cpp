// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "testbench/tests/catch_session.h"

// libsystemc brings main(); Catch2 runs inside it.
int sc_main(int argc, char** argv) { return run_catch_session(argc, argv); }

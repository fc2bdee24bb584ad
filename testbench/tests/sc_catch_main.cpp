// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "testbench/tests/catch_session.h"

// libsystemc brings main(); Catch2 runs inside it.
int sc_main(int argc, char** argv) { return run_catch_session(argc, argv); }

// The kernel recycles the records of notifications in a list of its own, which a leak checker does
// not see.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:sc_core::sc_event_timed::allocate";
}

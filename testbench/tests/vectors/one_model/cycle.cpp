// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "testbench/testbed/cycle_device.h"
#include "testbench/tests/vectors/one_model/one_model.h"

hca::testbench::ReplayRunner hca::test::the_runner() {
  return {"cycle, cut_through", testbench::make_cycle_device, true};
}

int sc_main(int argc, char** argv) { return hca::test::run_vectors(argc, argv); }

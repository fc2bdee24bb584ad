// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/functional_device.h"
#include "testbench/tests/vectors/one_model/one_model.h"

hca::testbench::ReplayRunner hca::test::the_runner() {
  return {"functional", testbench::make_functional_device};
}

int main(int argc, char** argv) { return hca::test::run_vectors(argc, argv); }

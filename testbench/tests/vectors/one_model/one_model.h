// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/host/replay_device.h"

namespace hca::test {
// The model of this program.
testbench::ReplayRunner the_runner();
// hca_functional_vectors FOLDER..., hca_cycle_vectors FOLDER...: runs all vectors in the folders.
int run_vectors(int argc, char** argv);
}  // namespace hca::test

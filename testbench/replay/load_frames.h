// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "testbench/lockstep/given_frames.h"

namespace hca::testbench {
// The frames of captures, and those that go in and out when vectors are run on the functional
// runner; files and folders of both. Throws std::runtime_error for what cannot be read.
std::vector<GivenFrame> load_frames(std::span<const std::string> paths);
}  // namespace hca::testbench

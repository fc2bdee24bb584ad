// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "testbench/lockstep/given_frames.h"

namespace hca::testbench {
// The frames of captures, and the input and output frames of vectors on the functional runner;
// files and folders of both. Throws std::runtime_error for unreadable files.
std::vector<GivenFrame> load_frames(std::span<const std::string> paths);
}  // namespace hca::testbench

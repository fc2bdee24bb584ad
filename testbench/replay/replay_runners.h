// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "testbench/host/replay_device.h"

namespace hca::testbench {
// Each model.
std::span<const ReplayRunner> replay_runners();
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "testbench/host/replay_device.h"

namespace hca::testbench {
// The cycle model as a device for replays.
std::unique_ptr<ReplayDevice> make_cycle_device(const DeviceOptions& options);
}  // namespace hca::testbench

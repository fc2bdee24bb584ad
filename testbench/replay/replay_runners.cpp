// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_runners.h"

#include <array>

#include "testbench/host/functional_device.h"
#include "testbench/testbed/cycle_device.h"

namespace hca::testbench {
std::span<const ReplayRunner> replay_runners() {
  static constexpr std::array runners{
      ReplayRunner{"functional", make_functional_device},
      ReplayRunner{"cycle", make_cycle_device},
  };
  return runners;
}
}  // namespace hca::testbench

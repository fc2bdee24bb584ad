// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "testbench/host/replay_device.h"

namespace hca::testbench {
std::span<const ReplayRunner> replay_runners() {
  static constexpr std::array runners{
      ReplayRunner{"functional", make_functional_device},
      ReplayRunner{"cycle", make_cycle_device},
  };
  return runners;
}
}  // namespace hca::testbench

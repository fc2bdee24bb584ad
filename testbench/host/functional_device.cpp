// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/functional_device.h"

namespace hca::testbench {
std::unique_ptr<ReplayDevice> make_functional_device(const DeviceOptions& options) {
  return std::make_unique<FunctionalDevice>(options);
}
}  // namespace hca::testbench

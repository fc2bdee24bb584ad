// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>

#include "tlm/pcie/pcie_link.h"

namespace hca::tlm_ {
// Adds up what a link tells of the use of its parts: bytes of its lines, cycles of the others.
struct SumOfUse final : PcieMeter {
  std::map<PciePart, u64> used;
  void use(PciePart part, Cycle, Cycle, u64 amount) override { used[part] += amount; }
  void waits(PciePart, Cycle, Cycle) override {}
};
}  // namespace hca::tlm_

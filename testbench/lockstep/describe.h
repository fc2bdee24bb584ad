// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "testbench/lockstep/icrc_stimulus.h"

namespace hca::testbench {
// A packet as a person wants to see it beside a divergence: how it was made, its headers, its
// bytes. `bytes`: how many of p.frame count.
std::string describe(const IcrcPacket& p, u32 bytes);
}  // namespace hca::testbench

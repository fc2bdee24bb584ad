// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// A vector of bytes as a SystemVerilog literal, byte 0 lowest.
std::string literal(const std::vector<u8>& bytes);
// The CRC registers as linear machines: functions for hca_pkg.
std::string crc_part();
}  // namespace hca::testbench

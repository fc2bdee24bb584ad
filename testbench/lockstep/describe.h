// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
// A readable form of a frame for a divergence: its headers, one per line.
std::string headers_of(std::span<const u8> frame, proto::LinkLayer link);
std::string hex_dump(std::span<const u8> bytes);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "model/proto/wire/framing.h"

namespace hca::testbench {
// A frame as a person wants to see it beside a divergence: its headers, each on a line of its own.
std::string headers_of(std::span<const u8> frame, proto::LinkLayer link);
std::string hex_dump(std::span<const u8> bytes);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hca::testbench {
// What a message shows of a text that somebody gave: one line of at most 40 characters.
std::string shortened(std::string_view text);
}  // namespace hca::testbench

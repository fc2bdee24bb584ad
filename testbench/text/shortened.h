// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace hca::testbench {
// A given text as shown in a message: one line of at most 40 characters.
std::string shortened(std::string_view text);
}  // namespace hca::testbench

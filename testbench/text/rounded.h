// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace hca::testbench {
// A number with five significant digits, as pages have them; an integer if its text "%.5g" is one.
nlohmann::json rounded(double number);
}  // namespace hca::testbench

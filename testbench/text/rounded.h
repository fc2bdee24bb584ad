// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hca::testbench {
// Appends a number with at most so many significant digits, 17 or fewer, as printf's "%.*g" writes
// it, but fast: the files of a run have some 100 000 of them.
void append_rounded(std::string& text, double number, int digits);
// A number with five significant digits, as pages have them; an integer if its text "%.5g" is one.
nlohmann::json rounded(double number);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/rounded.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace hca::testbench {
nlohmann::json rounded(double number) {
  if (number == 0) return 0;  // many are
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{:.5g}", number);
  long integer = 0;
  if (std::from_chars(text.begin(), text.end(), integer).ptr == text.end()) return integer;
  double real = 0;
  std::from_chars(text.begin(), text.end(), real);
  return real;
}
}  // namespace hca::testbench

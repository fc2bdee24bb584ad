// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/rounded.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

namespace hca::testbench {
namespace {
constexpr int kPageDigits = 5;
constexpr std::size_t kMostDigits = 17;
// With a sign, a point, leading zeros and an exponent.
using NumberText = std::array<char, kMostDigits + 12>;
std::string_view general_text(NumberText& text, double number, int digits) {
  const auto end =
      std::to_chars(text.begin(), text.end(), number, std::chars_format::general, digits).ptr;
  return {text.begin(), end};
}
}  // namespace

void append_rounded(std::string& text, double number, int digits) {
  NumberText own;
  text += general_text(own, number, digits);
}

nlohmann::json rounded(double number) {
  if (number == 0) return 0;  // many are
  NumberText own;
  const std::string_view text = general_text(own, number, kPageDigits);
  long integer = 0;
  if (std::from_chars(text.begin(), text.end(), integer).ptr == text.end()) return integer;
  double real = 0;
  std::from_chars(text.begin(), text.end(), real);
  return real;
}
}  // namespace hca::testbench

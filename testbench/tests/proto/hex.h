// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/types.h"

namespace hca::test {

// The bytes of a string of hex digits; blanks and line ends are ignored.
inline std::vector<u8> hex(std::string_view text) {
  std::vector<u8> bytes;
  int high = -1;
  for (char c : text) {
    if (c == ' ' || c == '\n') continue;
    const std::size_t digit = std::string_view("0123456789abcdef").find(char(c | 0x20));
    if (digit == std::string_view::npos) throw std::invalid_argument(std::string("not hex: ") + c);
    if (high < 0) {
      high = int(digit);
    } else {
      bytes.push_back(u8(high << 4 | int(digit)));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("odd number of hex digits");
  return bytes;
}

inline std::vector<u8> operator+(std::vector<u8> a, const std::vector<u8>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace hca::test

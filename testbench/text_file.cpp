// SPDX-License-Identifier: Apache-2.0
#include "testbench/text_file.h"

#include <fstream>
#include <sstream>

namespace hca::testbench {
std::optional<std::string> read_text_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file) return std::nullopt;
  // An empty file is no error, but writing none of its bytes would be.
  const bool is_empty = file.peek() == std::ifstream::traits_type::eof();
  if (file.bad() || (!is_empty && !(text << file.rdbuf()))) return std::nullopt;
  return text.str();
}
}  // namespace hca::testbench

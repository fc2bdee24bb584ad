// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/shortened.h"

#include <fmt/format.h>

#include "model/proto/types.h"

namespace hca::testbench {
std::string shortened(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown;
  for (const char c : text.substr(0, kMost))
    shown += u8(c) < 0x20 ? fmt::format("\\x{:02x}", u8(c)) : std::string(1, c);
  return shown + (text.size() > kMost ? "..." : "");
}

}  // namespace hca::testbench

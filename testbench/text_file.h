// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hca::testbench {
// All of a file; nothing if it cannot be read, as a folder.
std::optional<std::string> read_text_file(const std::string& path);
}  // namespace hca::testbench

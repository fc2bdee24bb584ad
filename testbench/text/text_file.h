// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hca::testbench {
// All of a file; nothing if it cannot be read, as a folder.
std::optional<std::string> read_text_file(const std::string& path);
// Throws std::runtime_error if it cannot be written.
void write_text_file(const std::string& path, const std::string& text);
// The same; whoever reads the file meanwhile sees it as it was or whole.
void replace_text_file(const std::string& path, const std::string& text);
// With all folders that it is in, for --out; throws std::runtime_error if it cannot be made.
void make_folder(const std::string& path);
}  // namespace hca::testbench

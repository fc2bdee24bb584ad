// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

namespace hca::testbench {
// The whole content of a file; empty if it cannot be read, or is a folder.
std::optional<std::string> read_text_file(const std::string& path);
// Throws std::runtime_error if it cannot be written.
void write_text_file(const std::string& path, const std::string& text);
// The same, atomically: a concurrent reader sees the old or the new content.
void replace_text_file(const std::string& path, const std::string& text);
// Creates a folder with all its parents, for --out; throws std::runtime_error on failure.
void make_folder(const std::string& path);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/text_file.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

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

void write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

void replace_text_file(const std::string& path, const std::string& text) {
  const std::string next = path + ".next." + std::to_string(getpid());
  write_text_file(next, text);
  std::filesystem::rename(next, path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    throw std::runtime_error("--out: " + path + " cannot be made a folder" +
                             (error ? ": " + error.message() : ""));
}
}  // namespace hca::testbench

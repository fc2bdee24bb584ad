// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/stdin_file.h"

#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace hca::testbench {
namespace {
// All of it or false.
bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t written = write(file, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data += written;
    bytes -= std::size_t(written);
  }
  return true;
}

// Empty: everything is in `file`.
std::string copy_stdin(int file) {
  std::array<char, 65536> buffer;
  while (const std::size_t bytes = std::fread(buffer.data(), 1, buffer.size(), stdin))
    if (!write_all(file, buffer.data(), bytes)) return "its copy cannot be written";
  return std::ferror(stdin) ? "cannot be read" : "";
}
}  // namespace

StdinFile::StdinFile()
    : path_((std::filesystem::temp_directory_path() / "hca_stdin_XXXXXX").string()) {
  const int file = mkstemp(path_.data());
  if (file < 0) throw std::runtime_error("stdin: its copy " + path_ + " cannot be made");
  std::string problem = copy_stdin(file);
  if (close(file) != 0 && problem.empty()) problem = "its copy cannot be written";
  if (problem.empty()) return;
  std::filesystem::remove(path_);
  throw std::runtime_error("stdin: " + problem);
}

StdinFile::~StdinFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}
}  // namespace hca::testbench

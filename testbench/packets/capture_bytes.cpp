// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/capture_bytes.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "testbench/packets/packed_file.h"

namespace hca::testbench {

void CaptureBytes::Close::operator()(gzFile_s* file) const { gzclose(file); }

namespace {
gzFile_s* open_file(const std::string& path, const std::string& name) {
  if (const std::optional<int> unpacked = unpacked_file(path, name))
    return gzdopen(*unpacked, "rb");
  return gzopen(path.c_str(), "rb");
}
}  // namespace

CaptureBytes::CaptureBytes(const std::string& path, const std::string& name)
    : name_(name), file_(open_file(path, name)) {
  if (!file_) fail(std::strerror(errno));
}

void CaptureBytes::fail(const std::string& what) const {
  throw std::runtime_error(name_ + ": " + what);
}

std::size_t CaptureBytes::read(std::span<u8> bytes) {
  std::size_t got = 0;
  while (got < bytes.size()) {
    constexpr std::size_t kMost = 1u << 20;
    const int n =
        gzread(file_.get(), bytes.data() + got, unsigned(std::min(kMost, bytes.size() - got)));
    int code = Z_OK;
    const char* const text = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) fail("the packed file ends early");
    if (n < 0) fail(code == Z_ERRNO ? std::strerror(errno) : text);
    if (n == 0) break;
    got += std::size_t(n);
  }
  return got;
}

bool CaptureBytes::skip(std::size_t bytes) {
  std::array<u8, 4096> unread;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, unread.size());
    if (read({unread.data(), part}) != part) return false;
    bytes -= part;
  }
  return true;
}

std::string CaptureBytes::rest() {
  std::string all;
  std::array<u8, 65536> part;
  while (const std::size_t got = read(part)) all.append(reinterpret_cast<char*>(part.data()), got);
  return all;
}

}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// All of standard input in a temporary file, deleted with the object: libpcap opens capture files
// by name, and the kind of file is only known from its first bytes.
class StdinFile {
 public:
  StdinFile();
  ~StdinFile();
  StdinFile(const StdinFile&) = delete;
  StdinFile& operator=(const StdinFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};
}  // namespace hca::testbench

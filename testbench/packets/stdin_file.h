// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace hca::testbench {
// All of standard input in a file of its own, which goes with the object: libpcap reads capture
// files by name, and what kind of file it is shows only at its beginning.
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

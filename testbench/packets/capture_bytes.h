// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file in order; unpacks gzip, zstd or xz, independent of the file's name.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "model/proto/types.h"

struct gzFile_s;

namespace hca::testbench {
class CaptureBytes {
 public:
  // `name`: the file's name in messages. Throws std::runtime_error if it cannot be opened.
  CaptureBytes(const std::string& path, const std::string& name);

  // Fills `bytes` from the start and returns the number of bytes: less than requested only at the
  // file's end. Throws std::runtime_error if a packed file is damaged or ends early.
  std::size_t read(std::span<u8> bytes);
  bool skip(std::size_t bytes);  // false: the file is shorter
  std::string rest();            // the remaining file as text
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
};
}  // namespace hca::testbench

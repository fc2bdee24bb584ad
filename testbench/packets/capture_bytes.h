// SPDX-License-Identifier: Apache-2.0
// The bytes of a file in order, unpacked if gzip, zstd or xz packed it, whatever its name is.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "model/proto/types.h"

struct gzFile_s;

namespace hca::testbench {
class CaptureBytes {
 public:
  // `name`: what messages call the file. Throws std::runtime_error if it cannot be opened.
  CaptureBytes(const std::string& path, const std::string& name);

  // Fills `bytes` from the front and returns how many there were: fewer only at the file's end.
  // Throws std::runtime_error where a packed file is damaged or ends early.
  std::size_t read(std::span<u8> bytes);
  bool skip(std::size_t bytes);  // false: the file ends before
  std::string rest();            // all that is left, as text
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Close {
    void operator()(gzFile_s* file) const;
  };
  std::string name_;
  std::unique_ptr<gzFile_s, Close> file_;
};
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Frames from the arguments of a command line: capture files, files of hex text, or hex text
// itself.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/packets/hex_text.h"
#include "testbench/packets/pcap_file.h"

namespace hca::testbench {

struct SourceFrame {
  std::string source;  // the file's name, "stdin" or "hex"
  u64 number;          // in its source, from 1
  bool has_time;
  CapturedFrame captured;
  std::string note = {};  // for text: how it was read, if that is not obvious
};

// Calls `each` with all frames in order. An argument that names a file is a pcap or pcapng file
// (plain or packed by gzip, zstd or xz), or text for hex_text.h (# begins a comment); "-" is such a
// file on standard input. An argument of several lines is such text itself. All others are hex
// digits; neighbours form one text. Throws std::runtime_error with the argument and the problem.
void for_each_frame(const std::vector<std::string>& arguments, HexLink link,
                    const std::function<void(const SourceFrame&)>& each);

}  // namespace hca::testbench

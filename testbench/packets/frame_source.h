// SPDX-License-Identifier: Apache-2.0
// Frames from what a person names on a command line: capture files, files of hex text, hex text
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
  std::string note = {};  // of text: how it was read, where that is not plain
};

// Calls `each` with all frames in order. An argument that names a file is a pcap or pcapng file,
// packed by gzip, zstd or xz or not, or text that hex_text.h reads (# begins a comment), and "-" is
// such a file on standard input; one of several lines is such text itself; all others are hex
// digits, and neighbours are one text. Throws std::runtime_error that names the argument and what
// is wrong with it.
void for_each_frame(const std::vector<std::string>& arguments, HexLink link,
                    const std::function<void(const SourceFrame&)>& each);

}  // namespace hca::testbench

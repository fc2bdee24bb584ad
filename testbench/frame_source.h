// SPDX-License-Identifier: Apache-2.0
// Frames from what a person names on a command line: capture files, files of hex text, hex text
// itself.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "testbench/pcap_file.h"

namespace hca::testbench {

struct SourceFrame {
  std::string source;  // the file's name, "stdin" or "hex"
  u64 number;          // in its source, from 1
  bool has_time;
  CapturedFrame captured;
};

// How hex text is to be read: it does not say where it begins.
enum class HexLink { Auto, Ethernet, InfiniBand };

// Calls `each` with all frames in order. An argument that names a file is a pcap or pcapng file, or
// text with one frame of hex digits in each line (# begins a comment), and "-" is such a file on
// standard input; all others are hex digits, and neighbours are one frame. Throws
// std::runtime_error that names the argument and what is wrong with it.
void for_each_frame(const std::vector<std::string>& arguments, HexLink link,
                    const std::function<void(const SourceFrame&)>& each);

// The bytes of hex text: digits in pairs, "0x", blanks and : - , between them are skipped.
std::vector<u8> bytes_of_hex(const std::string& text);

}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Packets in pasted text: dumps of xxd, hexdump -C, od, tcpdump and Wireshark, arrays and strings
// of programs, hex digits in one line or several.
#pragma once
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/proto/wire/layers.h"
#include "model/proto/wire/open_frame.h"

namespace hca::testbench {

// The first layer of hex text, which the text does not give.
enum class HexLink { Auto, Ethernet, InfiniBand, Ip, Udp, Bth };

// The layer that fits the bytes best, or the given one; with a score.
proto::Layer layer_of(std::span<const u8> bytes, HexLink link);
proto::Fit text_fit(std::span<const u8> bytes, HexLink link);

struct TextFrame {
  std::size_t line;  // its first line, from 1
  std::vector<u8> bytes;
  std::string note;  // where its bytes begin, and their order, if the text is ambiguous
};

// An unreadable place on a line of the text.
struct TextError : std::runtime_error {
  TextError(std::size_t line_number, const std::string& what)
      : std::runtime_error(what), line(line_number) {}
  std::size_t line;
};

// All packets of a text; empty if it has no bytes. Throws TextError.
std::vector<TextFrame> frames_of_text(const std::string& text, HexLink link);

// The bytes of hex text: digits in pairs, "0x", blanks and : - , between them are skipped.
std::vector<u8> bytes_of_hex(const std::string& text);

// ---- parsers, each for one notation ----
struct TextLine {
  std::size_t number;
  std::string text;  // without the end of the line
};
bool is_dump(const std::vector<TextLine>& lines);
std::vector<TextFrame> frames_of_dump(const std::vector<TextLine>& lines, HexLink link);
bool is_program_text(const std::string& text);
std::vector<TextFrame> frames_of_program_text(const std::string& text);

}  // namespace hca::testbench

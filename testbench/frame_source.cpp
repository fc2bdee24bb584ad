// SPDX-License-Identifier: Apache-2.0
#include "testbench/frame_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "model/proto/dissect.h"
#include "testbench/stdin_file.h"

namespace hca::testbench {
namespace {

constexpr std::array<u32, 6> kCaptureMagics{0xA1B2C3D4, 0xD4C3B2A1, 0xA1B23C4D,
                                            0x4D3CB2A1, 0x0A0D0D0A, 0xA1B2CD34};

bool is_capture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> head;
  if (!file.read(head.data(), 4)) return false;
  const u64 magic = proto::load_be<4>(reinterpret_cast<const u8*>(head.data()));
  for (const u32 m : kCaptureMagics)
    if (m == magic) return true;
  return false;
}

// Hex text does not say its link layer: the one under which it reads as a whole packet, else the
// one under which a BTH is found, else Ethernet.
proto::LinkLayer link_of(const std::vector<u8>& bytes, HexLink link) {
  using proto::LinkLayer;
  if (link == HexLink::Ethernet) return LinkLayer::Ethernet;
  if (link == HexLink::InfiniBand) return LinkLayer::InfiniBand;
  const proto::Dissection ethernet = proto::dissect(bytes, LinkLayer::Ethernet);
  const proto::Dissection native = proto::dissect(bytes, LinkLayer::InfiniBand);
  if (ethernet.has_icrc != native.has_icrc)
    return native.has_icrc ? LinkLayer::InfiniBand : LinkLayer::Ethernet;
  return native.has_transport && !ethernet.has_transport ? LinkLayer::InfiniBand
                                                         : LinkLayer::Ethernet;
}

SourceFrame hex_frame(const std::string& source, u64 number, const std::string& text,
                      HexLink link) {
  SourceFrame frame{source, number, false, {}};
  frame.captured.bytes = bytes_of_hex(text);
  if (frame.captured.bytes.empty()) throw std::invalid_argument("there are none");
  frame.captured.link = link_of(frame.captured.bytes, link);
  frame.captured.bytes_on_wire = u32(frame.captured.bytes.size());
  return frame;
}

using EachFrame = std::function<void(const SourceFrame&)>;

constexpr std::string_view kStdin = "-";

// A file by its path, and by the name that messages and frames have for it.
struct InputFile {
  std::string path, name;
};

void read_hex_file(const InputFile& input, HexLink link, const EachFrame& each) {
  std::ifstream file(input.path);
  if (!file) throw std::runtime_error(input.name + ": cannot be opened");
  u64 number = 0, line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      each(hex_frame(input.name, ++number, line, link));
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(input.name + " is no capture file, and as hex text, line " +
                               std::to_string(line_number) + ": " + error.what());
    }
  }
  if (file.bad()) throw std::runtime_error(input.name + ": cannot be read");
  if (number == 0) throw std::runtime_error(input.name + ": holds no frame");
}

void read_file(const InputFile& input, HexLink link, const EachFrame& each) {
  if (std::filesystem::is_directory(input.path))
    throw std::runtime_error(input.name + ": is a directory");
  if (!is_capture(input.path)) return read_hex_file(input, link, each);
  CaptureReader reader(input.path, input.name);
  for (u64 number = 1; std::optional<CapturedFrame> frame = reader.next(); ++number)
    each({input.name, number, true, std::move(*frame)});
}

bool is_file(const std::string& argument) {
  return argument == kStdin || std::filesystem::exists(argument);
}

bool looks_like_hex(const std::string& text) {
  bool has_digit = false;
  for (const unsigned char c : text) {
    if (!std::isxdigit(c) && !std::isspace(c) &&
        std::string_view(":-,xX").find(char(c)) == std::string_view::npos)
      return false;
    has_digit |= std::isxdigit(c) != 0;
  }
  return has_digit;
}

}  // namespace

std::vector<u8> bytes_of_hex(const std::string& text) {
  std::vector<u8> bytes;
  int high = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '0' && high < 0 && i + 1 < text.size() && (text[i + 1] | 0x20) == 'x') {
      ++i;
      continue;
    }
    if (std::isspace(c) || c == ':' || c == '-' || c == ',') continue;
    if (!std::isxdigit(c))
      throw std::invalid_argument(std::string("'") + char(c) + "' is no hex digit");
    const int digit = std::isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high >= 0) bytes.push_back(u8(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  if (high >= 0) throw std::invalid_argument("odd number of hex digits");
  return bytes;
}

void for_each_frame(const std::vector<std::string>& arguments, HexLink link,
                    const EachFrame& each) {
  if (std::count(arguments.begin(), arguments.end(), kStdin) > 1)
    throw std::runtime_error("- stands twice, but standard input can be read once");
  u64 number = 0;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kStdin) {
      const StdinFile copy;
      read_file({copy.path(), "stdin"}, link, each);
      continue;
    }
    if (is_file(arguments[i])) {
      read_file({arguments[i], arguments[i]}, link, each);
      continue;
    }
    if (!looks_like_hex(arguments[i]))
      throw std::runtime_error((arguments[i].empty() ? "\"\"" : arguments[i]) +
                               ": no such file, and no hex digits either");
    std::string text = arguments[i];
    while (i + 1 < arguments.size() && !is_file(arguments[i + 1]) &&
           looks_like_hex(arguments[i + 1]))
      text += " " + arguments[++i];
    try {
      each(hex_frame("hex", ++number, text, link));
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(std::string("hex digits: ") + error.what());
    }
  }
}

}  // namespace hca::testbench

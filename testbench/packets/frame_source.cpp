// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/frame_source.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "testbench/packets/stdin_file.h"

namespace hca::testbench {
namespace {

SourceFrame text_frame(const std::string& source, u64 number, TextFrame text, HexLink link) {
  SourceFrame frame{source, number, false, {}, text.note};
  frame.captured.begins = layer_of(text.bytes, link);
  frame.captured.link = frame.captured.begins == proto::Layer::Lrh ? proto::LinkLayer::InfiniBand
                                                                   : proto::LinkLayer::Ethernet;
  frame.captured.bytes_on_wire = u32(text.bytes.size());
  frame.captured.bytes = std::move(text.bytes);
  return frame;
}

using EachFrame = std::function<void(const SourceFrame&)>;

constexpr std::string_view kStdin = "-";

// A file by its path, and by the name that messages and frames have for it.
struct InputFile {
  std::string path, name;
};

void read_text(const InputFile& input, const std::string& text, HexLink link,
               const EachFrame& each) {
  std::vector<TextFrame> frames;
  try {
    frames = frames_of_text(text, link);
  } catch (const TextError& error) {
    throw std::runtime_error(input.name + " is no capture file, and as hex text, line " +
                             std::to_string(error.line) + ": " + error.what());
  }
  if (frames.empty()) throw std::runtime_error(input.name + ": holds no frame");
  u64 number = 0;
  for (TextFrame& frame : frames) each(text_frame(input.name, ++number, std::move(frame), link));
}

void read_file(const InputFile& input, HexLink link, const EachFrame& each) {
  if (std::filesystem::is_directory(input.path))
    throw std::runtime_error(input.name + ": is a directory");
  CaptureBytes bytes(input.path, input.name);
  std::array<u8, kMagicBytes> head;
  const std::span<const u8> first(head.data(), bytes.read(head));
  if (const std::string kind = named_kind_of(first); !kind.empty()) bytes.fail(kind);
  if (!is_capture(first)) {
    const std::string start(first.begin(), first.end());
    return read_text(input, start + bytes.rest(), link, each);
  }
  CaptureReader reader(input.path, input.name);
  for (u64 number = 1; std::optional<CapturedFrame> frame = reader.next(); ++number)
    each({input.name, number, true, std::move(*frame), {}});
}

bool is_file(const std::string& argument) {
  std::error_code too_long;  // digits may be more than a name has
  return argument == kStdin || std::filesystem::exists(argument, too_long);
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

void for_each_frame(const std::vector<std::string>& arguments, HexLink link,
                    const EachFrame& each) {
  if (std::count(arguments.begin(), arguments.end(), kStdin) > 1)
    throw std::runtime_error("- occurs twice, but standard input can be read only once");
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
    if (arguments[i].find('\n') != std::string::npos) {  // pasted between quotes
      read_text({"", "text"}, arguments[i], link, each);
      continue;
    }
    if (!looks_like_hex(arguments[i]))
      throw std::runtime_error((arguments[i].empty() ? "\"\"" : arguments[i]) +
                               ": no such file, and no hex digits either");
    std::string text = arguments[i];
    while (i + 1 < arguments.size() && !is_file(arguments[i + 1]) &&
           looks_like_hex(arguments[i + 1]))
      text += " " + arguments[++i];
    std::vector<TextFrame> frames;
    try {
      frames = frames_of_text(text, link);
    } catch (const TextError& error) {
      throw std::runtime_error(std::string("hex digits: ") + error.what());
    }
    if (frames.empty()) throw std::runtime_error("hex digits: there are none");
    for (TextFrame& frame : frames) each(text_frame("hex", ++number, std::move(frame), link));
  }
}

}  // namespace hca::testbench

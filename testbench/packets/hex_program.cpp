// SPDX-License-Identifier: Apache-2.0
// Bytes as programs write them: arrays in braces or brackets, strings with escapes.
#include <cctype>
#include <optional>

#include "testbench/packets/hex_text.h"

namespace hca::testbench {
namespace {

// Comments and lines of the preprocessor become blanks; ends of lines stay.
std::string without_comments(std::string text) {
  const auto blank = [&](std::size_t from, std::size_t end) {
    for (std::size_t i = from; i < std::min(end, text.size()); ++i)
      if (text[i] != '\n') text[i] = ' ';
  };
  bool line_begins = true;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote || c == '\n')
        quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (text.compare(i, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", i + 2);
      blank(i, end == std::string::npos ? text.size() : end + 2);
    } else if (text.compare(i, 2, "//") == 0 || (line_begins && c == '#')) {
      blank(i, text.find('\n', i));
    }
    line_begins = c == '\n' || (line_begins && std::isspace(static_cast<unsigned char>(c)));
  }
  return text;
}

class Reader {
 public:
  explicit Reader(const std::string& text) : text_(without_comments(text)) {}
  std::vector<TextFrame> arrays();
  std::vector<TextFrame> strings();

 private:
  [[noreturn]] void fail(const std::string& what) const { throw TextError(line_, what); }
  bool ends() const { return at_ >= text_.size(); }
  char take() {
    if (text_[at_] == '\n') ++line_;
    return text_[at_++];
  }
  bool is_next(char c) const { return !ends() && text_[at_] == c; }
  u8 number();
  u8 escaped();
  u8 hex_pair();

  std::string text_;
  std::size_t at_ = 0, line_ = 1;
};

u8 Reader::number() {
  std::string token;
  while (!ends() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || is_next('_')))
    token += take();
  std::size_t used = 0;
  unsigned long value = 256;
  try {
    const bool is_hex = token.size() > 2 && (token[1] | 0x20) == 'x';
    value = std::stoul(token, &used, is_hex ? 16 : 10);
  } catch (const std::exception&) {
  }
  while (used < token.size() && (token[used] | 0x20) == 'u') ++used;
  if (value > 255 || used != token.size())
    fail("'" + (token.empty() ? std::string(1, text_[at_]) : token) + "' is no byte");
  return u8(value);
}

std::vector<TextFrame> Reader::arrays() {
  const bool braces = text_.find('{') != std::string::npos;
  const char open = braces ? '{' : '[', close = braces ? '}' : ']';
  std::vector<TextFrame> frames;
  std::optional<TextFrame> frame;
  while (!ends()) {
    const char c = text_[at_];
    if (c == open) {
      if (frame && !frame->bytes.empty()) fail("an array in the numbers of another");
      take();
      frame = TextFrame{line_, {}, {}};
    } else if (c == close) {
      if (frame && !frame->bytes.empty()) frames.push_back(std::move(*frame));
      frame.reset();
      take();
    } else if (!frame || std::isspace(static_cast<unsigned char>(c)) || c == ',') {
      take();
    } else {
      frame->bytes.push_back(number());
    }
  }
  if (frame) {
    line_ = frame->line;
    fail("an array without its end");
  }
  return frames;
}

u8 Reader::hex_pair() {
  std::string digits;
  while (digits.size() < 2 && !ends() && std::isxdigit(static_cast<unsigned char>(text_[at_])))
    digits += take();
  if (digits.size() != 2) fail("\\x without two hex digits");
  return u8(std::stoul(digits, nullptr, 16));
}

u8 Reader::escaped() {
  if (ends()) fail("a \\ without what it stands for");
  const char c = take();
  switch (c) {
    case 'x':
      return hex_pair();
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case '0':
      return 0;
    case 'a':
      return '\a';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    case '\\':
    case '\'':
    case '"':
      return u8(c);
    default:
      fail(std::string("'\\") + c + "' is no escape that is read");
  }
}

// Strings that follow each other are one packet, up to ; or ) or , or a name.
std::vector<TextFrame> Reader::strings() {
  const bool has_quotes = text_.find_first_of("\"'") != std::string::npos;
  std::vector<TextFrame> frames;
  bool joins = false;
  while (!ends()) {
    const char c = take();
    if (!has_quotes) {
      if (std::isspace(static_cast<unsigned char>(c))) {
        joins = joins && c != '\n';
        continue;
      }
      if (c != '\\') fail(std::string("'") + c + "' between escapes");
      if (!joins) frames.push_back({line_, {}, {}});
      joins = true;
      frames.back().bytes.push_back(escaped());
    } else if (c == '"' || c == '\'') {
      if (!joins) frames.push_back({line_, {}, {}});
      while (!is_next(c)) {
        if (ends() || is_next('\n')) fail("a string without its end");
        const char inside = take();
        frames.back().bytes.push_back(inside == '\\' ? escaped() : u8(inside));
      }
      take();
      joins = true;
    } else if (!std::isspace(static_cast<unsigned char>(c)) && c != '\\' && c != '+' && c != 'b') {
      joins = false;
    }
  }
  std::erase_if(frames, [](const TextFrame& frame) { return frame.bytes.empty(); });
  return frames;
}

// An opening mark that a number follows, or a name and an opening mark.
bool has_array(const std::string& text) {
  for (const char open : {'{', '['})
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at + 1)) {
      const std::size_t next = text.find_first_not_of(" \t\r\n{[", at + 1);
      if (next != std::string::npos &&
          (text.compare(next, 2, "0x") == 0 || text.compare(next, 2, "0X") == 0 || open == '{'))
        return true;
    }
  return false;
}

}  // namespace

bool is_program_text(const std::string& text) {
  return text.find("\\x") != std::string::npos || has_array(without_comments(text));
}

std::vector<TextFrame> frames_of_program_text(const std::string& text) {
  Reader reader(text);
  return text.find("\\x") != std::string::npos ? reader.strings() : reader.arrays();
}

}  // namespace hca::testbench

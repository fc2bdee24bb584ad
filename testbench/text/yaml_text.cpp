// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/yaml_text.h"

#include <fmt/format.h>
#include <yaml-cpp/exceptions.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "model/proto/types.h"

namespace hca::testbench {
namespace {
// UTF-8 by the first byte: its range, how many bytes follow, and the range of the second one.
struct Utf8Row {
  u8 first, last, following, second_min, second_max;
};
constexpr std::array kUtf8{
    Utf8Row{0x00, 0x7F, 0, 0x80, 0xBF}, Utf8Row{0xC2, 0xDF, 1, 0x80, 0xBF},
    Utf8Row{0xE0, 0xE0, 2, 0xA0, 0xBF}, Utf8Row{0xE1, 0xEC, 2, 0x80, 0xBF},
    Utf8Row{0xED, 0xED, 2, 0x80, 0x9F}, Utf8Row{0xEE, 0xEF, 2, 0x80, 0xBF},
    Utf8Row{0xF0, 0xF0, 3, 0x90, 0xBF}, Utf8Row{0xF1, 0xF3, 3, 0x80, 0xBF},
    Utf8Row{0xF4, 0xF4, 3, 0x80, 0x8F},
};

// Bytes of the UTF-8 character at the front; 0: there is none.
std::size_t utf8_length(std::string_view text) {
  const u8 first = u8(text[0]);
  for (const Utf8Row& row : kUtf8) {
    if (first < row.first || first > row.last) continue;
    if (text.size() <= row.following) return 0;
    for (std::size_t i = 1; i <= row.following; ++i) {
      const u8 min = i == 1 ? row.second_min : u8{0x80}, max = i == 1 ? row.second_max : u8{0xBF};
      if (u8(text[i]) < min || u8(text[i]) > max) return 0;
    }
    return row.following + 1;
  }
  return 0;
}

bool is_control(char c) {
  return (u8(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
}

struct ErrorRow {
  std::string_view message, sentence;
};
const std::array kErrors{
    ErrorRow{YAML::ErrorMsg::END_OF_MAP, "a line that belongs to no key"},
    ErrorRow{YAML::ErrorMsg::END_OF_MAP_FLOW, "a \"{\" without its \"}\""},
    ErrorRow{YAML::ErrorMsg::END_OF_SEQ, "a line that belongs to no list"},
    ErrorRow{YAML::ErrorMsg::END_OF_SEQ_FLOW, "a \"[\" without its \"]\""},
    ErrorRow{YAML::ErrorMsg::FLOW_END, "a \"}\" or \"]\" that closes nothing"},
    ErrorRow{YAML::ErrorMsg::BLOCK_ENTRY, "a \"- \" where no entry may begin"},
    ErrorRow{YAML::ErrorMsg::EOF_IN_SCALAR, "a quote without its end"},
    ErrorRow{YAML::ErrorMsg::MAP_KEY, "a key where none is allowed"},
    ErrorRow{YAML::ErrorMsg::MAP_VALUE, "a second \": \", or a value without its key"},
    ErrorRow{YAML::ErrorMsg::TAB_IN_INDENTATION, "a tab at the beginning of a line"},
    ErrorRow{YAML::ErrorMsg::UNKNOWN_TOKEN, "a character with which no word begins"},
    ErrorRow{YAML::ErrorMsg::UNKNOWN_ANCHOR, "a \"*\" and a name that no \"&\" gives"},
};
}  // namespace

std::optional<TextMistake> first_bad_byte(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    if (!length || is_control(text[i]))
      return TextMistake{line, fmt::format("holds the byte {:#04x}, which is {}", u8(text[i]),
                                           length ? "a control character" : "no UTF-8")};
    line += text[i] == '\n';
    i += length;
  }
  return std::nullopt;
}

bool has_content(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r\xEF\xBB\xBF"), line.size()));
    const bool marker = line.starts_with("---") || line.starts_with("...");
    if (marker) line.remove_prefix(3);
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (!line.empty() && line[0] != '#') return true;
  }
  return false;
}

bool is_key(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalnum(u8(c)) || c == '_'; };
  char before = '.';
  for (const char c : text) {
    if (!is_letter(c) && (c != '.' || before == '.')) return false;
    before = c;
  }
  return before != '.';
}

std::string_view sentence_of_yaml_error(std::string_view message) {
  const auto row = std::find_if(kErrors.begin(), kErrors.end(),
                                [&](const ErrorRow& r) { return message.starts_with(r.message); });
  return row == kErrors.end() ? "text that no YAML reader understands" : row->sentence;
}
}  // namespace hca::testbench

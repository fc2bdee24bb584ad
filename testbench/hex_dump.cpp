// SPDX-License-Identifier: Apache-2.0
// Dumps whose lines begin with an offset, whatever program made them, with lines of text between
// the packets.
#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>

#include "testbench/hex_text.h"

namespace hca::testbench {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }

// "00000010: ", "0x0010:  ", "0010  ", "0000020 ": an offset, and where the bytes begin.
struct OffsetLine {
  std::size_t line;
  std::string digits;
  bool has_colon;
  std::string rest;

  bool is_at(std::size_t bytes, int base) const {
    try {
      return std::stoull(digits, nullptr, base) == bytes;
    } catch (const std::exception&) {
      return false;
    }
  }
  bool is_zero() const { return digits.find_first_not_of('0') == std::string::npos; }
};

// std::regex calls itself for each character.
constexpr std::size_t kLongestMatched = 512;

// What the kernel's log writes before each line of a dump: "[  12.345678] name: 00000000: ".
std::string without_prefix(const std::string& text) {
  static const std::regex prefix(R"(\[ *\d+\.\d+\] ([\w.:-]+ )*(?=[0-9a-f]{8}: ))");
  const bool may_have_one = text.starts_with("[") && text.size() <= kLongestMatched;
  return may_have_one ? std::regex_replace(text, prefix, "") : text;
}

std::optional<OffsetLine> offset_line(const TextLine& line) {
  constexpr std::size_t kLeastDigits = 3, kMostDigits = 12;
  const std::string text = without_prefix(line.text);
  std::size_t at = text.find_first_not_of(" \t");
  if (at == std::string::npos) return {};
  const bool has_mark = text.compare(at, 2, "0x") == 0;
  if (has_mark) at += 2;
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end - at < kLeastDigits || end - at > kMostDigits) return {};
  const bool has_colon = end < text.size() && text[end] == ':';
  const std::size_t after = end + has_colon;
  if (after < text.size() && !is_blank(text[after])) return {};
  if (has_mark && !has_colon) return {};
  return OffsetLine{line.number, text.substr(at, end - at), has_colon, text.substr(after)};
}

struct Token {
  std::size_t gap;  // columns of blanks before it
  std::string text;
  std::size_t end;
};
Token next_token(const std::string& text, std::size_t at) {
  constexpr std::size_t kTabColumns = 3;
  Token token{0, {}, at};
  for (; token.end < text.size() && is_blank(text[token.end]); ++token.end)
    token.gap += text[token.end] == '\t' ? kTabColumns : 1;
  while (token.end < text.size() && !is_blank(text[token.end])) token.text += text[token.end++];
  return token;
}

constexpr std::size_t kNoLimit = ~std::size_t{0};
constexpr std::size_t kUsualBytes = 16, kHalfLine = 8;

// The bytes of a line, at most `limit`; what follows them is the same as text.
std::vector<u8> bytes_of_line(const OffsetLine& line, std::size_t limit) {
  std::vector<u8> bytes;
  const bool has_bars = line.rest.find('|') != std::string::npos;
  for (std::size_t at = 0; bytes.size() < limit;) {
    const Token token = next_token(line.rest, at);
    at = token.end;
    if (token.text.empty() || token.text[0] == '|') break;
    const bool is_middle = !line.has_colon && (has_bars || bytes.size() == kHalfLine);
    if (!bytes.empty() && (token.gap > 2 || (token.gap == 2 && !is_middle))) break;
    if (token.text.size() % 2 != 0 || !std::ranges::all_of(token.text, is_digit))
      throw TextError(line.line, "'" + token.text + "' is no pair of hex digits");
    for (std::size_t i = 0; i < token.text.size(); i += 2)
      bytes.push_back(u8(std::stoul(token.text.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

// A dump without colons begins with an offset of zeros, and its bytes stand one by one.
bool begins_dump(const OffsetLine& line) {
  if (line.has_colon) return true;
  const Token first = next_token(line.rest, 0);
  if (!line.is_zero() || first.text.empty() || !std::ranges::all_of(first.text, is_digit))
    return false;
  constexpr std::size_t kLeastOfWords = 6;
  return first.text.size() == 2 || (first.text.size() >= 4 && line.digits.size() >= kLeastOfWords);
}

// Lines of text that programs write between packets.
bool is_heading(const std::string& text) {
  if (text.size() > kLongestMatched) return false;
  static const std::regex heading(R"(\s*\d{1,2}:\d\d:\d\d(\.\d+)?\s.*)"  // 12:34:56.789 IP ...
                                  R"(|\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*)"   // 2026-01-02 12:34:56 ...
                                  R"(|\s*(\d+\s+)?\d+\.\d+\s+\S.*)"      // 1 0.000000 192.0.2.1 ...
                                  R"(|\s+\S+ > \S+.*)"                   // more of tcpdump -v
                                  R"(|(IP6?|ARP|[0-9a-fA-F:]{17} >|ethertype)[ ,].*)"  // tcpdump -t
                                  R"(|.*\(\d+ bytes?\):?\s*)"  // Frame (62 bytes):
                                  R"(|No\.\s+Time\s.*|\+-[-+]*|---.*)");
  return std::regex_match(text, heading);
}
// Of the parts that tshark -x shows of one packet the first is the packet itself.
bool is_derived(const std::string& text) {
  if (text.size() > kLongestMatched) return false;
  static const std::regex title(R"(\s*(Reassembled|Decrypted|De-chunked|Uncompressed).*\):?\s*)");
  return std::regex_match(text, title);
}

class Dump {
 public:
  void take(const TextLine& line) {
    if (line.text.find_first_not_of(" \t") == std::string::npos) return;
    const std::size_t first = line.text.find_first_not_of(" \t");
    if (line.text[first] == '#') return;
    if (line.text == "*") {
      if (rows_.empty()) throw TextError(line.number, "* repeats a line, but none is before it");
      return rows_.push_back({line.number, "", false, "*"});
    }
    if (const std::optional<OffsetLine> row = offset_line(line); row && continues(*row)) {
      if (row->is_zero()) finish();
      return rows_.push_back(*row);
    }
    if (!is_heading(line.text))
      throw TextError(line.number,
                      "is neither a line of a dump nor a heading: " + line.text.substr(0, 60));
    finish();
    skips_ = is_derived(line.text);
  }
  std::vector<TextFrame> frames() {
    finish();
    return std::move(frames_);
  }

 private:
  bool continues(const OffsetLine& row) const {
    return row.has_colon || !rows_.empty() || begins_dump(row);
  }
  void finish() {
    if (!rows_.empty() && !skips_) frames_.push_back(frame_of());
    rows_.clear();
  }

  // What the next offset leaves for row `i`; `bytes`: of those before.
  std::size_t limit_of(std::size_t i, std::size_t bytes) const {
    for (std::size_t more = 1; more <= 256 && i + 1 < rows_.size() && rows_[i + 1].rest != "*";
         ++more)
      if (rows_[i + 1].is_at(bytes + more, base_)) return more;
    return width_ ? width_ : rows_[i].has_colon ? kNoLimit : kUsualBytes;
  }
  void repeat(std::size_t i, std::vector<u8>& bytes) const {
    constexpr std::size_t kMost = 1u << 17;
    if (i + 1 == rows_.size()) throw TextError(rows_[i].line, "* needs an offset after it");
    while (!rows_[i + 1].is_at(bytes.size(), base_)) {
      if (bytes.size() > kMost) throw TextError(rows_[i + 1].line, "its offset ends no repetition");
      const std::size_t from = bytes.size() - width_;
      for (std::size_t k = 0; k < width_; ++k) bytes.push_back(bytes[from + k]);
    }
  }
  TextFrame frame_of() {
    TextFrame frame{rows_.front().line, {}};
    width_ = 0;
    base_ = base_of_offsets();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const OffsetLine& row = rows_[i];
      if (row.rest == "*" && row.digits.empty()) {
        repeat(i, frame.bytes);
        continue;
      }
      if (!row.is_at(frame.bytes.size(), base_))
        throw TextError(row.line, "offset " + row.digits + ", but " +
                                      std::to_string(frame.bytes.size()) +
                                      " bytes stand before it");
      refuse_words(row);
      const std::size_t limit = limit_of(i, frame.bytes.size());
      const std::vector<u8> bytes = bytes_of_line(row, limit);
      if (width_ == 0) width_ = std::max<std::size_t>(bytes.size(), 1);
      frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
    }
    return frame;
  }
  // Those of od are octal or decimal: the second one is what the first line holds.
  int base_of_offsets() const {
    if (rows_.size() < 2 || rows_[0].has_colon || rows_[1].rest == "*") return 16;
    const Token first = next_token(rows_[0].rest, 0);
    if (first.text.size() != 2) return 16;
    const std::size_t bytes = bytes_of_line(rows_[0], kUsualBytes).size();
    for (const int base : {16, 8, 10})
      if (rows_[1].is_at(bytes, base)) return base;
    return 16;
  }
  // hexdump and od -x without more: nobody knows which byte came first.
  static void refuse_words(const OffsetLine& row) {
    const Token first = next_token(row.rest, 0);
    if (!row.has_colon && first.text.size() == 4 && row.digits.size() >= 6)
      throw TextError(row.line, "16-bit words in the byte order of some machine: use hexdump -C");
  }

  std::vector<OffsetLine> rows_;  // of the packet that is read
  std::size_t width_ = 0;         // bytes of its first line
  int base_ = 16;                 // of its offsets
  bool skips_ = false;
  std::vector<TextFrame> frames_;
};

}  // namespace

bool is_dump(const std::vector<TextLine>& lines) {
  for (const TextLine& line : lines) {
    const std::size_t first = line.text.find_first_not_of(" \t");
    if (first == std::string::npos || line.text[first] == '#') continue;
    if (const std::optional<OffsetLine> row = offset_line(line); row && begins_dump(*row))
      return true;
    if (!is_heading(line.text)) return false;
  }
  return false;
}

std::vector<TextFrame> frames_of_dump(const std::vector<TextLine>& lines) {
  Dump dump;
  for (const TextLine& line : lines) dump.take(line);
  return dump.frames();
}

}  // namespace hca::testbench

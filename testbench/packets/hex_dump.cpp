// SPDX-License-Identifier: Apache-2.0
// Dumps whose lines begin with an offset, from any program, with lines of text between the packets.
#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <regex>

#include "testbench/packets/hex_text.h"

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

  std::optional<u64> offset(int base) const {
    std::size_t used = 0;
    try {
      const u64 value = std::stoull(digits, &used, base);
      return used == digits.size() ? std::optional(value) : std::nullopt;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  bool is_zero() const { return digits.find_first_not_of('0') == std::string::npos; }
  bool is_repetition() const { return rest == "*" && digits.empty(); }
};
// The bases of od's offsets, which are octal or decimal, and of others.
constexpr std::array kBases{16, 8, 10};

// std::regex calls itself for each character.
constexpr std::size_t kLongestMatched = 512;

// Removes the prefix of a line of a dump in the kernel's log: "[  12.345678] name: 00000000: ".
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
constexpr std::size_t kUsualBytes = 16, kHalfLine = 8, kMostOfLine = 256;

// As they are written, and with the bytes of each group from the last one on: a machine that has
// the low byte first writes words so.
struct LineBytes {
  std::vector<u8> written, reversed;
  std::size_t group = 0;  // bytes of the first group
};

// True for a line of hexdump or od -x: nothing but words.
bool has_words(const OffsetLine& line) {
  const Token first = next_token(line.rest, 0);
  constexpr std::size_t kLeastDigits = 6;
  return !line.has_colon && first.text.size() >= 4 && line.digits.size() >= kLeastDigits &&
         std::ranges::all_of(first.text, is_digit);
}

// True: the bytes of a line end before this token, and its text begins.
bool begins_text(const OffsetLine& line, const Token& token, const LineBytes& before, bool words) {
  if (token.text.empty() || token.text[0] == '|' || token.text[0] == '>') return true;
  if (before.written.empty()) return false;
  if (words) return token.text.size() != 2 * before.group;
  // The last group of xxd -e is aligned to the right.
  const std::size_t missing = 2 * before.group - std::min(2 * before.group, token.text.size());
  if (line.has_colon && missing && token.gap == missing + 1) return false;
  const bool has_bars = line.rest.find('|') != std::string::npos;
  const bool is_middle = !line.has_colon && (has_bars || before.written.size() == kHalfLine);
  return token.gap > 2 || (token.gap == 2 && !is_middle);
}

// The bytes of a line, at most `limit`; what follows them is the same as text.
LineBytes bytes_of_line(const OffsetLine& line, std::size_t limit) {
  LineBytes bytes;
  const bool words = has_words(line);
  for (std::size_t at = 0; bytes.written.size() < limit;) {
    const Token token = next_token(line.rest, at);
    at = token.end;
    if (begins_text(line, token, bytes, words)) break;
    if (token.text.size() % 2 != 0 || !std::ranges::all_of(token.text, is_digit))
      throw TextError(line.line, "'" + token.text + "' is no pair of hex digits");
    const std::size_t first = bytes.written.size();
    for (std::size_t i = 0; i < token.text.size(); i += 2)
      bytes.written.push_back(u8(std::stoul(token.text.substr(i, 2), nullptr, 16)));
    bytes.reversed.insert(bytes.reversed.end(), bytes.written.rbegin(),
                          bytes.written.rend() - std::ptrdiff_t(first));
    if (first == 0) bytes.group = bytes.written.size();
  }
  if (!words) return bytes;  // the last word may hold a byte that is not of the packet
  bytes.written.resize(std::min(bytes.written.size(), limit));
  bytes.reversed.resize(bytes.written.size());
  return bytes;
}

// The base in which the offset of the next line is the number of bytes of this one further on.
std::optional<int> base_between(const OffsetLine& line, const OffsetLine& next) {
  const std::size_t bytes = bytes_of_line(line, kUsualBytes).written.size();
  for (const int base : kBases) {
    const auto from = line.offset(base), to = next.offset(base);
    if (bytes && from && to && *to == *from + bytes) return base;
  }
  return std::nullopt;
}

// A dump without colons begins with an offset of zeros, or one that the next line continues; its
// bytes are written singly or in words.
bool begins_dump(const OffsetLine& line, const std::optional<OffsetLine>& next) {
  if (line.has_colon) return true;
  const Token first = next_token(line.rest, 0);
  if (first.text.empty() || !std::ranges::all_of(first.text, is_digit)) return false;
  if (first.text.size() != 2 && !has_words(line)) return false;
  if (line.is_zero() || line.rest.find('|') != std::string::npos) return true;
  return next && base_between(line, *next);
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
// tshark -x shows several parts of one packet; only the first is the packet itself.
bool is_derived(const std::string& text) {
  if (text.size() > kLongestMatched) return false;
  static const std::regex title(R"(\s*(Reassembled|Decrypted|De-chunked|Uncompressed).*\):?\s*)");
  return std::regex_match(text, title);
}

class Dump {
 public:
  explicit Dump(HexLink link) : link_(link) {}

  void take(const TextLine& line, const std::optional<OffsetLine>& next) {
    const std::size_t first = line.text.find_first_not_of(" \t");
    if (first == std::string::npos || line.text[first] == '#') return;
    if (line.text == "*") {
      if (rows_.empty()) throw TextError(line.number, "* repeats a line, but none is before it");
      return rows_.push_back({line.number, "", false, "*"});
    }
    const std::optional<OffsetLine> row = offset_line(line);
    if (row && (row->has_colon || !rows_.empty() || begins_dump(*row, next))) {
      if (begins_packet(*row)) finish();
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
  // An offset that is not beyond the one before.
  bool begins_packet(const OffsetLine& row) const {
    for (auto before = rows_.rbegin(); before != rows_.rend(); ++before)
      if (!before->is_repetition()) return row.offset(16) <= before->offset(16);
    return false;
  }
  void finish() {
    if (!rows_.empty() && !skips_) frames_.push_back(frame_of());
    rows_.clear();
  }
  bool is_at(const OffsetLine& row, std::size_t bytes) const {
    return row.offset(base_) == start_ + bytes;
  }

  // The bytes of row `i` by the next offset; `bytes`: bytes of the rows before.
  std::size_t limit_of(std::size_t i, std::size_t bytes) const {
    const auto next = i + 1 < rows_.size() ? rows_[i + 1].offset(base_) : std::nullopt;
    const u64 here = start_ + bytes;
    if (next && *next > here && *next - here <= kMostOfLine) return *next - here;
    return width_ ? width_ : rows_[i].has_colon ? kNoLimit : kUsualBytes;
  }
  void repeat(std::size_t i, std::vector<u8>& bytes) const {
    constexpr std::size_t kMost = 1u << 17;
    if (i + 1 == rows_.size()) throw TextError(rows_[i].line, "* needs an offset after it");
    if (bytes.size() < width_) throw TextError(rows_[i].line, "* repeats a line without bytes");
    while (!is_at(rows_[i + 1], bytes.size())) {
      if (bytes.size() > kMost) throw TextError(rows_[i + 1].line, "its offset ends no repetition");
      const std::size_t from = bytes.size() - width_;
      for (std::size_t k = 0; k < width_; ++k) bytes.push_back(bytes[from + k]);
    }
  }
  TextFrame frame_of() {
    LineBytes all;
    width_ = 0;
    const bool can_tell = rows_.size() > 1 && !rows_[0].has_colon && !rows_[1].is_repetition();
    base_ = can_tell ? base_between(rows_[0], rows_[1]).value_or(16) : 16;
    start_ = rows_[0].offset(base_).value_or(0);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const OffsetLine& row = rows_[i];
      if (row.is_repetition()) {
        repeat(i, all.written), repeat(i, all.reversed);
        continue;
      }
      if (!is_at(row, all.written.size()))
        throw TextError(row.line, "offset " + row.digits + ", but " +
                                      std::to_string(all.written.size()) + " bytes are before it");
      const LineBytes bytes = bytes_of_line(row, limit_of(i, all.written.size()));
      if (width_ == 0) width_ = std::max<std::size_t>(bytes.written.size(), 1);
      if (i == 0) all.group = bytes.group;
      all.written.insert(all.written.end(), bytes.written.begin(), bytes.written.end());
      all.reversed.insert(all.reversed.end(), bytes.reversed.begin(), bytes.reversed.end());
    }
    TextFrame frame{rows_.front().line, {}, {}};
    if (start_) frame.note = "from offset " + rows_.front().digits + " on";
    const bool reversed = reads_reversed(all);
    if (reversed)
      frame.note += (frame.note.empty() ? "" : ", ") + std::to_string(8 * all.group) +
                    "-bit words with the low byte first";
    frame.bytes = std::move(reversed ? all.reversed : all.written);
    return frame;
  }
  // Words of hexdump and od are those of a machine, most of which have the low byte first; groups
  // of xxd only with -e. What reads better decides.
  bool reads_reversed(const LineBytes& all) const {
    if (all.group < 2) return false;
    const proto::Fit written = text_fit(all.written, link_),
                     reversed = text_fit(all.reversed, link_);
    if (has_words(rows_.front())) return reversed >= written;
    return reversed > std::max(written, proto::Fit::Plausible);
  }

  HexLink link_;
  std::vector<OffsetLine> rows_;  // of the packet that is read
  std::size_t width_ = 0;         // bytes of its first line
  int base_ = 16;                 // of its offsets
  u64 start_ = 0;                 // the first of them
  bool skips_ = false;
  std::vector<TextFrame> frames_;
};

// The line with an offset that follows line `i`.
std::optional<OffsetLine> next_row(const std::vector<TextLine>& lines, std::size_t i) {
  return i + 1 < lines.size() ? offset_line(lines[i + 1]) : std::nullopt;
}

}  // namespace

bool is_dump(const std::vector<TextLine>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    const std::size_t first = line.text.find_first_not_of(" \t");
    if (first == std::string::npos || line.text[first] == '#') continue;
    if (const auto row = offset_line(line); row && begins_dump(*row, next_row(lines, i)))
      return true;
    if (!is_heading(line.text)) return false;
  }
  return false;
}

std::vector<TextFrame> frames_of_dump(const std::vector<TextLine>& lines, HexLink link) {
  Dump dump(link);
  for (std::size_t i = 0; i < lines.size(); ++i) dump.take(lines[i], next_row(lines, i));
  return dump.frames();
}

}  // namespace hca::testbench

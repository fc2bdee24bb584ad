// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/hex_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include "model/proto/wire/open_frame.h"

namespace hca::testbench {
namespace {

using proto::Layer;

struct LinkRow {
  HexLink link;
  Layer layer;
};
// In the order in which they are preferred where two fit equally well.
constexpr std::array kLinks{
    LinkRow{HexLink::Ethernet, Layer::Ethernet},
    LinkRow{HexLink::InfiniBand, Layer::Lrh},
    LinkRow{HexLink::Ip, Layer::Ip},
    LinkRow{HexLink::Udp, Layer::Udp},
    LinkRow{HexLink::Bth, Layer::Bth},
};

struct Fitting {
  Layer layer = Layer::Ethernet;
  proto::Fit fit = proto::Fit::None;
};
Fitting best_fit(std::span<const u8> bytes, HexLink link) {
  Fitting best;
  for (const LinkRow& row : kLinks) {
    if (link != HexLink::Auto && link != row.link) continue;
    const proto::Fit fit = proto::fit_of(bytes, row.layer);
    if (fit > best.fit || link == row.link) best = {row.layer, fit};
  }
  return best;
}

std::vector<TextLine> lines_of(const std::string& text) {
  std::vector<TextLine> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (lines.empty() && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\f')) line.pop_back();
    lines.push_back({lines.size() + 1, line});
  }
  return lines;
}

bool goes_on(const std::string& text) {
  const std::size_t last = text.find_last_not_of(" \t");
  return last != std::string::npos &&
         std::string_view(",:-\\").find(text[last]) != std::string::npos;
}

// Neighbouring lines of digits are the packets of a list, or the parts of one packet.
void add_group(const std::vector<TextFrame>& group, HexLink link, std::vector<TextFrame>& out) {
  using namespace proto;
  if (group.empty()) return;
  std::vector<u8> all;
  bool each_whole = true, some_whole = false, regular = true;
  for (const TextFrame& part : group) {
    all.insert(all.end(), part.bytes.begin(), part.bytes.end());
    const Fit fit = best_fit(part.bytes, link).fit;
    some_whole |= fit >= Fit::Whole;
    each_whole &= fit >= Fit::Plausible;
    const std::size_t size = group.front().bytes.size();
    regular &= &part == &group.back() ? part.bytes.size() <= size : part.bytes.size() == size;
  }
  constexpr std::size_t kWidestLine = 32;
  const bool is_list = some_whole || each_whole;
  const bool is_one = best_fit(all, link).fit >= Fit::Plausible ||
                      (regular && group.front().bytes.size() <= kWidestLine && group.size() > 1);
  if (is_one && !is_list)
    out.push_back({group.front().line, std::move(all), {}});
  else
    out.insert(out.end(), group.begin(), group.end());
}

std::vector<TextFrame> frames_of_digits(const std::vector<TextLine>& lines, HexLink link) {
  std::vector<TextFrame> frames, group;
  bool joins = false;
  for (const TextLine& line : lines) {
    std::string text = line.text.substr(0, line.text.find('#'));
    if (text.find_first_not_of(" \t") == std::string::npos) {
      if (line.text.find('#') != std::string::npos) continue;
      add_group(group, link, frames);
      group.clear();
      joins = false;
      continue;
    }
    const bool more = goes_on(text);
    if (more && text[text.find_last_not_of(" \t")] == '\\') text.erase(text.rfind('\\'));
    std::vector<u8> bytes;
    try {
      bytes = bytes_of_hex(text);
    } catch (const std::invalid_argument& error) {
      throw TextError(line.number, error.what());
    }
    if (joins && !group.empty())
      group.back().bytes.insert(group.back().bytes.end(), bytes.begin(), bytes.end());
    else
      group.push_back({line.number, std::move(bytes), {}});
    joins = more;
  }
  add_group(group, link, frames);
  return frames;
}

}  // namespace

Layer layer_of(std::span<const u8> bytes, HexLink link) { return best_fit(bytes, link).layer; }
proto::Fit text_fit(std::span<const u8> bytes, HexLink link) { return best_fit(bytes, link).fit; }

std::vector<TextFrame> frames_of_text(const std::string& text, HexLink link) {
  const std::vector<TextLine> lines = lines_of(text);
  std::vector<TextFrame> frames = is_dump(lines)          ? frames_of_dump(lines, link)
                                  : is_program_text(text) ? frames_of_program_text(text)
                                                          : frames_of_digits(lines, link);
  std::erase_if(frames, [](const TextFrame& frame) { return frame.bytes.empty(); });
  return frames;
}

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
      throw std::invalid_argument(std::isprint(c) ? std::string("'") + char(c) + "' is no hex digit"
                                                  : "a byte that is no text");
    const int digit = std::isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    if (high >= 0) bytes.push_back(u8(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  if (high >= 0) throw std::invalid_argument("odd number of hex digits");
  return bytes;
}

}  // namespace hca::testbench

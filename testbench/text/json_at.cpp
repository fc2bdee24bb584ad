// SPDX-License-Identifier: Apache-2.0
#include "testbench/text/json_at.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "testbench/text/shortened.h"

namespace hca::testbench {

namespace {
std::optional<u64> number_of(const nlohmann::json& value) {
  if (value.is_number_unsigned()) return value.get<u64>();
  if (value.is_number_integer()) {  // not below zero, though kept as signed
    const auto number = value.get<std::int64_t>();
    return number < 0 ? std::nullopt : std::optional(u64(number));
  }
  if (!value.is_string()) return std::nullopt;
  return parse_literal(value.get_ref<const std::string&>());
}

// Decimal for what people count, hexadecimal for addresses and keys.
std::string shown(u64 limit) {
  return limit < 1'000'000'000 ? std::to_string(limit) : fmt::format("{:#x}", limit);
}
}  // namespace

std::optional<u64> parse_literal(std::string_view text) {
  if (text.size() > 1 && text[0] == '0' && text[1] != 'x') return std::nullopt;
  const bool is_hex = text.starts_with("0x");
  u64 number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + (is_hex ? 2 : 0), end, number, is_hex ? 16 : 10);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

void JsonAt::refuse(std::string_view problem, std::string_view allowed) const {
  throw std::runtime_error(
      fmt::format("{}: {}; allowed: {}", path_.empty() ? "(top)" : path_, problem, allowed));
}
void JsonAt::refuse_value(std::string_view allowed) const {
  refuse("is " + shortened(value_.dump()), allowed);
}

JsonAt JsonAt::operator[](std::string_view name) const {
  if (!value_.is_object()) refuse_value("an object");
  JsonAt inner(value_, path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name));
  const auto found = value_.find(name);
  if (found == value_.end()) inner.refuse("is missing", "a value");
  return JsonAt(*found, inner.path_);
}
JsonAt JsonAt::operator[](std::size_t index) const {
  if (!value_.is_array() || value_.size() <= index)
    refuse_value(fmt::format("a list of {} or more", index + 1));
  return JsonAt(value_[index], fmt::format("{}[{}]", path_, index));
}
std::vector<JsonAt> JsonAt::entries() const {
  if (!value_.is_array()) refuse_value("a list");
  std::vector<JsonAt> all;
  for (std::size_t i = 0; i < value_.size(); ++i) all.push_back((*this)[i]);
  return all;
}

void JsonAt::check_keys(std::initializer_list<std::string_view> allowed) const {
  std::string names;
  for (const std::string_view name : allowed)
    names += (names.empty() ? "" : ", ") + std::string(name);
  if (!value_.is_object()) refuse_value("an object with " + names);
  for (const auto& [key, unused] : value_.items())
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end())
      (*this)[key].refuse("is unknown", names);
}

u64 JsonAt::number(u64 min, u64 max) const {
  const std::optional<u64> number = number_of(value_);
  if (!number || *number < min || *number > max)
    refuse_value(fmt::format("a whole number, {} .. {}", shown(min), shown(max)));
  return *number;
}
bool JsonAt::truth() const {
  if (!value_.is_boolean()) refuse_value("true, false");
  return value_.get<bool>();
}
const std::string& JsonAt::text() const {
  if (!value_.is_string()) refuse_value("a string");
  return value_.get_ref<const std::string&>();
}
std::vector<u8> JsonAt::hex(std::size_t bytes) const {
  const std::string allowed =
      bytes ? fmt::format("{} hex digits", 2 * bytes) : "hex digits in pairs";
  if (!value_.is_string()) refuse_value(allowed);
  const std::string& digits = text();
  const bool good =
      std::all_of(digits.begin(), digits.end(), [](u8 c) { return std::isxdigit(c); });
  if (!good || digits.size() % 2 || (bytes && digits.size() != 2 * bytes)) refuse_value(allowed);
  std::vector<u8> out(digits.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i)
    std::from_chars(&digits[2 * i], &digits[2 * i] + 2, out[i], 16);
  return out;
}

namespace {
// Over a text, counting the lines that were read.
struct CountedText {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at;
  u64* line;
  reference operator*() const { return *at; }
  CountedText& operator++() {
    *line += *at++ == '\n';
    return *this;
  }
  bool operator==(const CountedText& o) const { return at == o.at; }
  bool operator!=(const CountedText& o) const { return at != o.at; }
};
}  // namespace

nlohmann::json parse_json(std::string_view text) try {
  // The library keeps the last of two equal keys and says nothing.
  std::vector<std::set<std::string>> keys;
  u64 line = 1;
  const CountedText from{text.data(), &line}, end{text.data() + text.size(), &line};
  const auto take = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (depth > kDeepestJson)
      throw std::runtime_error(
          fmt::format("{}: values are nested too deeply; allowed: {}", line, kDeepestJson));
    if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
    if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
    if (event == nlohmann::json::parse_event_t::key)
      if (const auto& key = value.get_ref<const std::string&>(); !keys.back().insert(key).second)
        throw std::runtime_error(
            fmt::format("{}: key \"{}\" occurs twice in one object; allowed: once", line, key));
    return true;
  };
  try {
    return nlohmann::json::parse(from, end, take);
  } catch (const nlohmann::json::out_of_range&) {
    throw std::runtime_error(
        fmt::format("{}: a number is too large; allowed: up to 1.79e308", line));
  }
} catch (const nlohmann::json::parse_error& error) {
  const std::string_view before = text.substr(0, error.byte ? error.byte - 1 : 0);
  const std::size_t newline = before.rfind('\n');
  throw std::runtime_error(
      fmt::format("{}: (top): no JSON from column {} on; allowed: one object as JSON has them",
                  1 + std::count(before.begin(), before.end(), '\n'),
                  newline == before.npos ? before.size() + 1 : before.size() - newline));
}
}  // namespace hca::testbench

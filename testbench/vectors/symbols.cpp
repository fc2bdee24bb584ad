// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/proto/commands.h"
#include "model/proto/device.h"

namespace hca::testbench {
using namespace proto;

namespace {
struct Right {
  std::string_view name;
  u8 value;
};
constexpr std::array kRights{
    Right{"local_write", kLocalWrite},     Right{"remote_write", kRemoteWrite},
    Right{"remote_read", kRemoteRead},     Right{"remote_atomic", kRemoteAtomic},
    Right{"fast_register", kFastRegister}, Right{"bind_window", kBindWindow},
    Right{"zero_based", kZeroBased},       Right{"all", kAllAccess}};
struct TimeUnit {
  std::string_view name;
  u64 nanoseconds;
};
constexpr std::array kTimeUnits{TimeUnit{"ns", 1}, TimeUnit{"us", 1000}, TimeUnit{"ms", 1'000'000},
                                TimeUnit{"s", 1'000'000'000}};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == text.npos ? std::string_view{}
                            : text.substr(first, text.find_last_not_of(' ') - first + 1);
}
}  // namespace

Symbols::Symbols() {
  for (const Right& right : kRights) values_.emplace(right.name, right.value);
  for (std::size_t i = 0; i < kQpStateNames.size(); ++i) values_.emplace(kQpStateNames[i], i);
  for (std::size_t i = 0; i < kWcStatusNames.size(); ++i) values_.emplace(kWcStatusNames[i], i);
}

void Symbols::define(const std::string& name, u64 value, const JsonAt& where) {
  const auto good = [](char c) { return std::isalnum(u8(c)) || c == '_' || c == '.'; };
  if (name.empty() || std::isdigit(u8(name[0])) || !std::all_of(name.begin(), name.end(), good))
    where.refuse(fmt::format("'{}' is no name", name), "letters, digits and _, no digit in front");
  if (!values_.emplace(name, value).second)
    where.refuse(fmt::format("the name '{}' is taken", name), "another name");
}

const u64* Symbols::find(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

u64 Symbols::term(std::string_view text, const JsonAt& where) const {
  text = trimmed(text);
  if (const auto found = values_.find(text); found != values_.end()) return found->second;
  const bool is_hex = text.starts_with("0x");
  u64 number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] =
      std::from_chars(text.data() + (is_hex ? 2 : 0), end, number, is_hex ? 16 : 10);
  if (error != std::errc{} || stop != end || text.empty())
    where.refuse(fmt::format("'{}' is neither a number nor a name of the set-up", text),
                 "27, \"0x1b\", \"m.key\", \"m + 64\"");
  return number;
}

u64 Symbols::value(const JsonAt& json, u64 max) const {
  u64 sum = 0;
  if (json.value().is_boolean()) {
    sum = json.value().get<bool>();
  } else if (!json.value().is_string()) {
    sum = json.number();
  } else {
    const std::string_view text = json.text();
    char with = '+';
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find_first_of("+-|", at), text.size());
      const u64 next = term(text.substr(at, end - at), json);
      sum = with == '|' ? sum | next : with == '-' ? sum - next : sum + next;
      if (end < text.size()) with = text[end];
      at = end + 1;
    }
  }
  if (sum > max) json.refuse(fmt::format("is {:#x}", sum), fmt::format("0 .. {:#x}", max));
  return sum;
}

u64 Symbols::value_or(const JsonAt& object, const char* key, u64 otherwise, u64 max) const {
  return object.has(key) ? value(object[key], max) : otherwise;
}

u64 nanoseconds_of(const JsonAt& json) {
  constexpr std::string_view allowed = "a whole number and ns, us, ms or s";
  const std::string_view text = json.text();
  u64 number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = trimmed(text.substr(std::size_t(stop - text.data())));
  for (const TimeUnit& row : kTimeUnits)
    if (error == std::errc{} && row.name == unit && number < 1'000'000'000)
      return number * row.nanoseconds;
  json.refuse(fmt::format("is '{}'", text), allowed);
}
}  // namespace hca::testbench

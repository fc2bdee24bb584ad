// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/symbols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "model/proto/interface/commands.h"
#include "model/proto/interface/device.h"
#include "model/proto/interface/rights.h"
#include "testbench/text/trimmed.h"

namespace hca::testbench {
using namespace proto;

namespace {
struct TimeUnit {
  std::string_view name;
  u64 nanoseconds;
};
constexpr std::array kTimeUnits{TimeUnit{"ns", 1}, TimeUnit{"us", 1000}, TimeUnit{"ms", 1'000'000},
                                TimeUnit{"s", 1'000'000'000}};

// `visit(with, term)`; `with`: the sign in front, + of the first.
template <class Visit>
void for_each_term(std::string_view text, const Visit& visit) {
  char with = '+';
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("+-|", at), text.size());
    visit(with, trimmed(text.substr(at, end - at)));
    if (end < text.size()) with = text[end];
    at = end + 1;
  }
}
}  // namespace

Symbols::Symbols() {
  for (const RightRow& right : kRightRows) values_.emplace(right.name, right.right);
  values_.emplace("all", kAllAccess);
  for (std::size_t i = 0; i < kQpStateNames.size(); ++i) values_.emplace(kQpStateNames[i], i);
  for (std::size_t i = 0; i < kWcStatusNames.size(); ++i) values_.emplace(kWcStatusNames[i], i);
}

void Symbols::define(const std::string& name, u64 value, const JsonAt& where) {
  if (!is_name(std::string_view(name).substr(0, name.find('.'))))
    where.refuse(fmt::format("'{}' is no name", name), "letters, digits and _, no digit in front");
  if (!values_.emplace(name, value).second)
    where.refuse(fmt::format("the name '{}' is taken", name), "another name");
}

u64 Symbols::term(std::string_view text, const JsonAt& where) const {
  if (const auto found = values_.find(text); found != values_.end()) return found->second;
  if (const auto number = parse_literal(text)) return *number;
  where.refuse(fmt::format("'{}' is neither a number nor a name of the set-up", text),
               "27, \"0x1b\", \"m.key\", \"m + 64\"");
}

u64 Symbols::value(const JsonAt& json, u64 max) const {
  u64 sum = 0;
  if (!json.value().is_string())
    sum = json.number();
  else
    for_each_term(json.text(), [&](char with, std::string_view text) {
      const u64 next = term(text, json);
      if (with == '-' ? next > sum : with == '+' && next > ~sum)
        json.refuse(fmt::format("is below 0 or beyond 64 bits at '{}'", text),
                    fmt::format("0 .. {:#x}", max));
      sum = with == '|' ? sum | next : with == '-' ? sum - next : sum + next;
    });
  if (sum > max) json.refuse(fmt::format("is {:#x}", sum), fmt::format("0 .. {:#x}", max));
  return sum;
}

u64 Symbols::value_or(const JsonAt& object, const char* key, u64 otherwise, u64 max) const {
  return object.has(key) ? value(object[key], max) : otherwise;
}

bool is_name(std::string_view text) {
  const auto good = [](char c) { return std::isalnum(u8(c)) || c == '_'; };
  return !text.empty() && !std::isdigit(u8(text[0])) && std::all_of(text.begin(), text.end(), good);
}

void check_number_form(const JsonAt& json) {
  if (!json.value().is_string()) return void(json.number());
  for_each_term(json.text(), [&](char, std::string_view text) {
    const std::size_t dot = text.find('.');
    const bool good_tail =
        dot == text.npos || text.substr(dot) == ".key" || text.substr(dot) == ".peer";
    if (!parse_literal(text) && !(is_name(text.substr(0, dot)) && good_tail))
      json.refuse(fmt::format("'{}' is neither a number nor a name", text),
                  "27, \"0x1b\", \"m.key\", \"m + 64\"");
  });
}

u64 nanoseconds_of(const JsonAt& json) {
  constexpr u64 kMost = 999'999'999;
  const std::string_view text = json.text();
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view unit = blank < text.size() ? text.substr(blank + 1) : "";
  const u64 number = text.starts_with('0') ? 0 : parse_literal(text.substr(0, blank)).value_or(0);
  for (const TimeUnit& row : kTimeUnits)
    if (number && number <= kMost && row.name == unit) return number * row.nanoseconds;
  json.refuse(fmt::format("is '{}'", text),
              fmt::format("1 .. {}, a blank, and ns, us, ms or s", kMost));
}
}  // namespace hca::testbench

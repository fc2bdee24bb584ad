// SPDX-License-Identifier: Apache-2.0
#include "model/engine/knob_text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "model/engine/random.h"

namespace hca::engine {
namespace {
struct Scale {
  std::string_view unit;
  u64 factor;
};
struct UnitRow {
  std::string_view name;
  std::string_view example;
  std::vector<Scale> read;     // what parse_knob() takes
  std::vector<Scale> written;  // what print_knob() chooses from, largest first
};

constexpr u64 kKilo = 1000, kMega = kKilo * kKilo, kGiga = kMega * kKilo, kTera = kGiga * kKilo;

const UnitRow& row_of(Unit unit) {
  static const std::array<UnitRow, 8> rows{{
      {"cycles", "12 cycles", {{"cycles", 1}, {"cycle", 1}}, {{"cycles", 1}}},
      {"count", "12", {}, {}},
      {"bytes",
       "4 KiB",
       {{"B", 1},
        {"kB", kKilo},
        {"MB", kMega},
        {"GB", kGiga},
        {"KiB", u64{1} << 10},
        {"MiB", u64{1} << 20},
        {"GiB", u64{1} << 30}},
       {{"GiB", u64{1} << 30}, {"MiB", u64{1} << 20}, {"KiB", u64{1} << 10}, {"B", 1}}},
      {"time",
       "2 us",
       {{"ps", 1}, {"ns", kKilo}, {"us", kMega}, {"ms", kGiga}, {"s", kTera}},
       {{"s", kTera}, {"ms", kGiga}, {"us", kMega}, {"ns", kKilo}, {"ps", 1}}},
      {"bits per second",
       "100 Gb/s",
       {{"b/s", 1}, {"kb/s", kKilo}, {"Mb/s", kMega}, {"Gb/s", kGiga}, {"Tb/s", kTera}},
       {{"Tb/s", kTera}, {"Gb/s", kGiga}, {"Mb/s", kMega}, {"kb/s", kKilo}, {"b/s", 1}}},
      {"frequency",
       "250 MHz",
       {{"Hz", 1}, {"kHz", kKilo}, {"MHz", kMega}, {"GHz", kGiga}},
       {{"GHz", kGiga}, {"MHz", kMega}, {"kHz", kKilo}, {"Hz", 1}}},
      {"bool", "true", {}, {}},
      {"name", "", {}, {}},
  }};
  return rows[std::size_t(unit)];
}

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? std::string_view{} : text.substr(first, last - first + 1);
}

template <class Range>
std::string listed(const Range& words, std::string_view between) {
  std::string all;
  for (const auto& word : words) all.append(all.empty() ? "" : between).append(word);
  return all;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

std::vector<std::string_view> words_of(const std::vector<Scale>& scales) {
  std::vector<std::string_view> words;
  for (const Scale& scale : scales) words.push_back(scale.unit);
  return words;
}

// One text being read; every complaint ends here.
struct Reader {
  const KnobInfo& knob;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& problem, std::string nearest = {}) const {
    throw ConfigError(knob.path(), std::string(text), knob.range(), std::move(nearest), problem);
  }
  [[noreturn]] void refuse_not_a_number() const {
    const std::string example(row_of(knob.unit).example);
    if (is_yaml11_boolean(text) || text == "true" || text == "false")
      refuse("is a boolean; a number such as \"" + example + "\" is wanted");
    refuse("is not a number such as \"" + example + "\"");
  }

  // The decimal number at the front of the text: digits and, after a point, digits.
  struct Number {
    std::string_view whole, part, unit;
  };
  Number split() const {
    const std::string_view t = trimmed(text);
    std::size_t n = 0;
    while (n < t.size() && is_digit(t[n])) ++n;
    if (!n) refuse_not_a_number();
    Number number{t.substr(0, n), {}, {}};
    if (n < t.size() && t[n] == '.') {
      const std::size_t from = ++n;
      while (n < t.size() && is_digit(t[n])) ++n;
      if (n == from) refuse("has a point without digits after it");
      number.part = t.substr(from, n - from);
      while (number.part.ends_with('0')) number.part.remove_suffix(1);
    }
    number.unit = trimmed(t.substr(n));
    check_look(t, number, n);
    return number;
  }
  // Spellings that a YAML reader may take for a number of another base.
  void check_look(std::string_view t, const Number& number, std::size_t end) const {
    if (number.whole == "0" && end < t.size() && (lower(t[end]) == 'x' || lower(t[end]) == 'o'))
      refuse("is not decimal; write it without 0x or 0o");
    if (number.whole.size() > 1 && number.whole[0] == '0')
      refuse("looks octal; write it without leading zeros");
    if (end < t.size() && (t[end] == '_' || t[end] == ':' || t[end] == ',' || t[end] == '.'))
      refuse("is not a plain decimal number");
    if (end + 1 < t.size() && lower(t[end]) == 'e' &&
        (is_digit(t[end + 1]) || t[end + 1] == '+' || t[end + 1] == '-'))
      refuse("has an exponent; write all digits or a larger unit");
  }
  u64 factor(std::string_view unit) const {
    const UnitRow& row = row_of(knob.unit);
    if (row.read.empty()) {
      if (unit.empty()) return 1;
      refuse("has a unit, but \"" + std::string(knob.name) + "\" is a plain count");
    }
    const std::string units = listed(words_of(row.read), ", ");
    if (unit.empty())
      refuse("has no unit; write it as \"" + std::string(row.example) + "\" (" + units + ")");
    for (const Scale& scale : row.read)
      if (scale.unit == unit) return scale.factor;
    refuse("has the unknown unit \"" + std::string(unit) + "\" (known: " + units + ")",
           nearest_name(unit, words_of(row.read)));
  }
  // whole.part * factor, exact.
  u64 number() const {
    const Number n = split();
    const u64 scale = factor(n.unit);
    u128 whole = 0, part = 0, power = 1;
    if (n.whole.size() > 20 || n.part.size() > 19) refuse("has too many digits");
    for (const char c : n.whole) whole = whole * 10 + unsigned(c - '0');
    for (const char c : n.part) {
      part = part * 10 + unsigned(c - '0');
      power *= 10;
    }
    if (part * scale % power) {
      const auto& units = row_of(knob.unit).read;
      refuse("is not a whole number" +
             (units.empty() ? std::string() : " of " + std::string(units[0].unit)));
    }
    const u128 value = whole * scale + part * scale / power;
    if (value < knob.min || value > knob.max) refuse("is out of range");
    if (!knob.allows(u64(value))) refuse(std::string(knob.rule->problem));
    return u64(value);
  }

  u64 boolean() const {
    const std::string_view word = trimmed(text);
    if (word == "true") return 1;
    if (word == "false") return 0;
    if (is_yaml11_boolean(word)) refuse("is a boolean of YAML 1.1 only; write true or false");
    refuse("is not true or false");
  }
  u64 name() const {
    const std::string_view word = trimmed(text);
    for (u64 i = 0; i < knob.names.size(); ++i)
      if (knob.names[i] == word) return i;
    if (is_yaml11_boolean(word) || word == "true" || word == "false")
      refuse("is a boolean; one of the names is wanted");
    refuse("is not one of the names", nearest_name(word, knob.names));
  }
};

// `value` in units of `factor` with at most three decimals, or nothing.
std::optional<std::string> in_unit(u64 value, u64 factor, bool decimals) {
  if (value % factor == 0) return std::to_string(value / factor);
  const u64 step = factor / 1000;
  if (!decimals || value < factor || !step || value % step) return std::nullopt;
  std::string part = std::to_string(value % factor / step);
  part.insert(0, 3 - part.size(), '0');
  part.erase(part.find_last_not_of('0') + 1);
  return std::to_string(value / factor) + "." + part;
}
}  // namespace

std::string_view unit_name(Unit unit) { return row_of(unit).name; }

std::string KnobInfo::path() const { return std::string(block) + "." + std::string(name); }

std::string KnobInfo::range() const {
  if (unit == Unit::Enum) return listed(names, " | ");
  if (unit == Unit::Bool) return "false | true";
  return print_knob(*this, min) + " .. " + print_knob(*this, max) +
         (rule ? ", " + std::string(rule->allowed) : "");
}

ConfigError::ConfigError(std::string knob_path, std::string given, std::string allowed,
                         std::string nearest_name, std::string_view problem, std::string_view label)
    : std::runtime_error(knob_path + (given.empty() ? "" : ": \"" + given + "\"") + " " +
                         std::string(problem) + "; " + std::string(label) + ": " + allowed +
                         (nearest_name.empty() ? "" : "; did you mean \"" + nearest_name + "\"?")),
      knob(std::move(knob_path)),
      value(std::move(given)),
      range(std::move(allowed)),
      nearest(std::move(nearest_name)) {}

u64 parse_knob(const KnobInfo& knob, std::string_view text) {
  const Reader reader{knob, text};
  if (trimmed(text).empty()) reader.refuse("has no value");
  if (knob.unit == Unit::Bool) return reader.boolean();
  if (knob.unit == Unit::Enum) return reader.name();
  return reader.number();
}

std::string print_knob(const KnobInfo& knob, u64 value) {
  if (knob.unit == Unit::Bool) return value ? "true" : "false";
  if (knob.unit == Unit::Enum)
    return value < knob.names.size() ? std::string(knob.names[value]) : std::to_string(value);
  if (knob.unit == Unit::Cycles) return value == 1 ? "1 cycle" : std::to_string(value) + " cycles";
  if (knob.unit == Unit::Count) return std::to_string(value);
  const auto& units = row_of(knob.unit).written;
  for (const auto& [unit, factor] : units) {
    if (value < factor) continue;
    if (const auto number = in_unit(value, factor, knob.unit != Unit::Bytes))
      return *number + " " + std::string(unit);
  }
  return std::to_string(value) + " " + std::string(units.back().unit);
}

// A row of the usual table for each letter of `a`: distances of its beginning to those of `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kComparedLetters);
  b = b.substr(0, kComparedLetters);
  std::array<std::size_t, kComparedLetters + 1> row{};
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i]) != lower(b[j]));
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

std::string nearest_name(std::string_view given, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t distance = ~std::size_t{0};
  for (const std::string_view name : known) {
    const std::size_t longer = std::max(given.size(), name.size());
    const std::size_t at_least = longer - std::min(given.size(), name.size());
    if (at_least >= distance || at_least * 2 > longer) continue;
    const std::size_t d = edit_distance(given, name);
    if (d < distance) {
      distance = d;
      best = name;
    }
  }
  const bool near = !best.empty() && distance * 2 <= std::max(given.size(), best.size());
  return near ? std::string(best) : "";
}

void unknown_knob(std::string_view block, std::string_view name, std::string_view value,
                  std::span<const std::string_view> known) {
  throw ConfigError(std::string(block) + "." + std::string(name), std::string(value),
                    listed(known, ", "), nearest_name(name, known),
                    "is no knob of " + std::string(block), "known");
}
}  // namespace hca::engine

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <limits>
#include <type_traits>
#include <utility>

#include "model/engine/knob_text.h"
#include "model/proto/rows.h"

namespace hca::engine {
// One knob of a configuration struct: a row of its table.
template <class Config, class T>
struct Knob {
  std::string_view name;
  T Config::*member;
  Unit unit;
  u64 min, max;
  std::span<const std::string_view> names;
  std::string_view sentence;
  const KnobRule* rule = nullptr;

  constexpr const T& of(const Config& config) const { return config.*member; }
  void set(Config& config, u64 value) const { config.*member = static_cast<T>(value); }
};
// One knob for an element of a member that is an array.
template <class Config, class T, std::size_t n>
struct ElementKnob {
  std::string_view name;
  std::array<T, n> Config::*member;
  std::size_t place;
  Unit unit;
  u64 min, max;
  std::string_view sentence;
  static constexpr std::span<const std::string_view> names{};
  static constexpr const KnobRule* rule = nullptr;

  constexpr const T& of(const Config& config) const { return (config.*member)[place]; }
  void set(Config& config, u64 value) const { (config.*member)[place] = static_cast<T>(value); }
};

// The table of a configuration struct, declared once beside it:
//   struct RequesterConfig { Cycle latency = 2; RxForward rx_forward = RxForward::Store; };
//   template <> struct Knobs<RequesterConfig> {
//     static constexpr std::string_view block = "requester";
//     static constexpr std::string_view sentence = "messages to packets";
//     static constexpr auto rows = make_rows(
//         knob("latency", &RequesterConfig::latency, Unit::Cycles, 1, 1000, "from a WQE to its
//         first packet"), knob("rx_forward", &RequesterConfig::rx_forward, kRxForwardNames, "when
//         payload is written"));
//   };
// The default is the struct's member initialiser.
template <class Config>
struct Knobs;

template <class T>
constexpr u64 knob_limit() {
  if constexpr (std::is_enum_v<T>)
    return std::numeric_limits<std::underlying_type_t<T>>::max();
  else
    return u64(std::numeric_limits<T>::max());
}

// A number, with `min` and `max` both allowed. A wrong row does not compile.
template <class Config, class T>
constexpr Knob<Config, T> knob(std::string_view name, T Config::*member, Unit unit, u64 min,
                               u64 max, std::string_view sentence) {
  static_assert(std::is_unsigned_v<T>, "a knob is unsigned, bool or an enum with a name list");
  if (min > max || max > knob_limit<T>()) throw "the range does not fit the member";
  if (unit == Unit::Enum) throw "an enum needs its name list";
  if ((unit == Unit::Bool) != std::is_same_v<T, bool>)
    throw "bool members, and only they, are Unit::Bool";
  return {name, member, unit, min, max, {}, sentence};
}
// A number with a rule (a static object), which both ends of the range must satisfy.
template <class Config, class T>
constexpr Knob<Config, T> knob(std::string_view name, T Config::*member, Unit unit, u64 min,
                               u64 max, const KnobRule& rule, std::string_view sentence) {
  if (!rule.holds(min) || !rule.holds(max)) throw "the ends of the range break the rule";
  Knob<Config, T> row = knob(name, member, unit, min, max, sentence);
  row.rule = &rule;
  return row;
}
template <class Config>
constexpr Knob<Config, bool> knob(std::string_view name, bool Config::*member,
                                  std::string_view sentence) {
  return {name, member, Unit::Bool, 0, 1, {}, sentence};
}
// An enum whose values are 0, 1, 2 ... in the order of `names` (a static array).
template <class Config, class T, std::size_t n>
constexpr Knob<Config, T> knob(std::string_view name, T Config::*member,
                               const std::array<std::string_view, n>& names,
                               std::string_view sentence) {
  static_assert(std::is_enum_v<T> && n > 0);
  if (n - 1 > knob_limit<T>()) throw "more names than values";
  for (const std::string_view word : names)
    if (is_yaml11_boolean(word)) throw "YAML 1.1 reads this name as a boolean";
  return {name, member, Unit::Enum, 0, n - 1, names, sentence};
}

// A text as a template's argument.
template <std::size_t n>
struct Literal {
  char letters[n];
  constexpr Literal(const char (&text)[n]) { std::copy_n(text, n, letters); }
};
// The text with a number of one or two digits at its end.
template <Literal text, std::size_t number>
inline constexpr auto kNumbered = [] {
  static_assert(number < 100);
  constexpr std::size_t tens = number >= 10, before = sizeof(text.letters) - 1;
  std::array<char, before + tens + 1> all{};
  std::copy_n(text.letters, before, all.begin());
  if (tens) all[before] = '0' + number / 10;
  all.back() = '0' + number % 10;
  return all;
}();
template <Literal text, std::size_t number>
inline constexpr std::string_view kNumberedText{kNumbered<text, number>.data(),
                                                kNumbered<text, number>.size()};

// Rows for each element of an array: `name` and `sentence` end where its number comes.
//   knobs_of<"sl_", "VL of SL ">(&C::sl, Unit::Count, 0, 7): sl_0, sl_1, ...
template <Literal name, Literal sentence, class Config, class T, std::size_t n>
constexpr auto knobs_of(std::array<T, n> Config::*member, Unit unit, u64 min, u64 max) {
  static_assert(std::is_unsigned_v<T> && !std::is_same_v<T, bool>);
  if (min > max || max > knob_limit<T>()) throw "the range does not fit the member";
  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    return make_rows(ElementKnob<Config, T, n>{kNumberedText<name, i>, member, i, unit, min, max,
                                               kNumberedText<sentence, i>}...);
  }
  (std::make_index_sequence<n>());
}

// `Table`: the table that has the row; it may belong to a base of the configuration.
template <class Table, class Row>
constexpr KnobInfo info_of(const Row& row) {
  return {Knobs<Table>::block, row.name,     row.unit, row.min, row.max,
          row.names,           row.sentence, row.rule};
}

// A knob of one configuration, typeless: `config` outlives it.
template <class Config>
class KnobRef {
 public:
  template <class Row>
  KnobRef(Config& config, const Row& row)
      : info(info_of<std::remove_const_t<Config>>(row)),
        config_(config),
        row_(&row),
        get_([](const Config& c, const void* r) { return u64(static_cast<const Row*>(r)->of(c)); }),
        set_([](std::remove_const_t<Config>& c, const void* r, u64 v) {
          static_cast<const Row*>(r)->set(c, v);
        }) {}
  const KnobInfo info;
  u64 value() const { return get_(config_, row_); }
  std::string text() const { return print_knob(info, value()); }
  void set(std::string_view text) const requires(!std::is_const_v<Config>) {
    set_(config_, row_, parse_knob(info, text));
  }

 private:
  Config& config_;
  const void* row_;
  u64 (*get_)(const Config&, const void*);
  void (*set_)(std::remove_const_t<Config>&, const void*, u64);
};

// Calls fn(KnobRef) for each row in the table's order.
template <class Config, class Fn>
void for_each_knob(Config& config, Fn&& fn) {
  with_rows([&](const auto&... row) { (fn(KnobRef<Config>(config, row)), ...); },
            Knobs<std::remove_const_t<Config>>::rows);
}

template <class Config>
constexpr auto knob_names() {
  return with_rows(
      [](const auto&... row) { return std::array<std::string_view, sizeof...(row)>{row.name...}; },
      Knobs<Config>::rows);
}

// The rows without their types, in the table's order.
template <class Config>
inline constexpr auto kKnobInfos = with_rows(
    [](const auto&... row) {
      return std::array<KnobInfo, sizeof...(row)>{info_of<Config>(row)...};
    },
    Knobs<Config>::rows);

// Calls fn(KnobRef) for the knob at this position of the table.
template <class Config, class Fn>
void with_nth_knob(Config& config, std::size_t place, Fn&& fn) {
  for_each_knob(config, [&](const auto& knob) {
    if (!place--) fn(knob);
  });
}
template <class Config>
std::string nth_knob_text(const Config& config, std::size_t place) {
  std::string text;
  with_nth_knob(config, place, [&](const auto& knob) { text = knob.text(); });
  return text;
}
template <class Config>
void set_nth_knob(Config& config, std::size_t place, std::string_view text) {
  with_nth_knob(config, place, [&](const auto& knob) { knob.set(text); });
}

// Sets one knob from text such as `12`, `100 Gb/s`, `4 KiB`; throws ConfigError and then changes
// nothing.
template <class Config>
void set_knob(Config& config, std::string_view name, std::string_view text) {
  bool known = false;
  for_each_knob(config, [&](const auto& knob) {
    if (knob.info.name == name) {
      known = true;
      knob.set(text);
    }
  });
  if (!known) unknown_knob(Knobs<Config>::block, name, text, knob_names<Config>());
}

// The value of one knob in the form that set_knob() reads.
template <class Config>
std::string knob_text(const Config& config, std::string_view name) {
  std::string text;
  bool known = false;
  for_each_knob(config, [&](const auto& knob) {
    if (knob.info.name == name) {
      known = true;
      text = knob.text();
    }
  });
  if (!known) unknown_knob(Knobs<Config>::block, name, "", knob_names<Config>());
  return text;
}

// Checks values that were assigned, not parsed: throws ConfigError for the first one out of range.
template <class Config>
void check_knobs(const Config& config) {
  for_each_knob(config, [](const auto& knob) {
    if (!knob.info.allows(knob.value())) parse_knob(knob.info, knob.text());
  });
}
}  // namespace hca::engine

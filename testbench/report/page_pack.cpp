// SPDX-License-Identifier: Apache-2.0
// Of the forms of a list the shortest text is kept.
#include "testbench/report/page_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
namespace {
using Json = nlohmann::json;
using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;
// A list of the data, or a column of such lists.
using List = std::vector<const Json*>;
constexpr std::size_t kShortest = 4;     // a list of fewer values stays as it is
constexpr std::size_t kMostWide = 64;    // columns of a table of lists
constexpr std::size_t kRowsToTry = 256;  // of such a table, to choose its form
// Sums of differences of such numbers are exact in a page, where numbers have 53 bits.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 51;

std::string text_of(const Json& value) { return value.dump(-1, ' ', true); }
// Of all values of a list. Those of numbers are cut from one text: making a text has a price.
Texts texts_of(const List& list) {
  Texts texts;
  if (std::ranges::any_of(list, [](const Json* one) { return one->is_string(); })) {
    for (const Json* one : list) texts.push_back(text_of(*one));
    return texts;
  }
  Json all = Json::array();
  for (const Json* one : list) all.push_back(*one);
  const std::string text = text_of(all);  // [1.5,2,null]
  for (std::size_t from = 1, to = from; to + 1 < text.size(); from = to + 1) {
    to = text.find_first_of(",]", from);
    texts.push_back(text.substr(from, to - from));
  }
  return texts;
}
void append(std::string& list, std::int64_t number) {
  const fmt::format_int text(number);
  list.append(text.data(), text.size());
}
void append(std::string& list, const std::string& text) { list += text; }
// Of numbers, or of values that are text.
template <class Values>
std::string list_of(const Values& values) {
  if (values.empty()) return "[]";
  std::string list = "[";
  for (const auto& value : values) append(list, value), list += ',';
  list.back() = ']';
  return list;
}
// An object with one member, or with two in the order of their keys.
std::string object_of(std::string_view key, std::string_view value) {
  return fmt::format("{{\"{}\":{}}}", key, value);
}
std::string object_of(std::string_view key, std::string_view value, std::string_view form,
                      std::string_view of_form) {
  return fmt::format("{{\"{}\":{},\"{}\":{}}}", key, value, form, of_form);
}
void keep_shorter(std::string& best, std::string other) {
  if (other.size() < best.size()) best = std::move(other);
}

bool all_of(const List& list, bool (*fits)(const Json&)) {
  return std::ranges::all_of(list, [fits](const Json* one) { return fits(*one); });
}
bool is_number(const Json& value) {
  if (value.is_number_unsigned()) return value.get<u64>() <= u64{kMostNumber};
  return value.is_number_integer() && std::abs(value.get<std::int64_t>()) <= kMostNumber;
}

template <class Values>
std::string runs_of(const Values& values) {
  std::string runs = "[";
  for (auto from = values.begin(), to = from; from != values.end(); from = to) {
    to = std::find_if(from, values.end(), [&](const auto& value) { return value != *from; });
    append(runs, *from), runs += ',';
    append(runs, std::int64_t(to - from)), runs += ',';
  }
  runs.back() = ']';
  return object_of("~r", runs);
}

template <class Values>
std::string with_runs(const Values& values) {
  std::string best = list_of(values);
  // Without two equal neighbours they are longer.
  if (std::ranges::adjacent_find(values) != values.end()) keep_shorter(best, runs_of(values));
  return best;
}

std::string packed_numbers(Integers numbers) {
  if (numbers.size() < kShortest) return list_of(numbers);
  std::string best = with_runs(numbers);
  std::int64_t divisor = 0;
  for (const std::int64_t number : numbers) divisor = std::gcd(divisor, number);
  if (divisor > 1)
    for (std::int64_t& number : numbers) number /= divisor;
  std::string values = divisor > 1 ? with_runs(numbers) : best;
  std::adjacent_difference(numbers.begin(), numbers.end(), numbers.begin());
  keep_shorter(values, object_of("~d", with_runs(numbers)));
  if (divisor > 1) values = object_of("v", values, "~g", fmt::format_int(divisor).c_str());
  keep_shorter(best, std::move(values));
  return best;
}

bool have_same_keys(const List& list) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto& first = list[0]->get_ref<const Json::object_t&>();
  return std::ranges::all_of(list, [&](const Json* one) {
    return std::ranges::equal(one->get_ref<const Json::object_t&>(), first, same);
  });
}

class Packer {
 public:
  std::string pack(const Json& data) {
    if (data.is_object()) return pack_object(data);
    if (!data.is_array()) return text_of(data);
    List list;
    for (const Json& one : data) list.push_back(&one);
    return pack_list(list);
  }
  std::string words() const { return list_of(words_); }

 private:
  std::string pack_list(const List& list) {
    if (list.size() < 2) return pack_each(list);
    if (all_of(list, [](const Json& one) { return one.is_string(); })) return pack_words(list);
    if (all_of(list, [](const Json& one) { return one.is_object(); }) && have_same_keys(list))
      return pack_objects(list);
    if (all_of(list, [](const Json& one) { return one.is_array(); })) return pack_lists(list);
    const bool plain = all_of(list, [](const Json& one) { return one.is_primitive(); });
    return plain && list.size() >= kShortest ? pack_plain(list) : pack_each(list);
  }
  std::string pack_each(const List& list) {
    Texts all;
    for (const Json* one : list) all.push_back(pack(*one));
    return list_of(all);
  }
  std::string pack_plain(const List& list) {
    if (!all_of(list, is_number)) return with_runs(texts_of(list));
    Integers numbers;
    for (const Json* one : list) numbers.push_back(one->get<std::int64_t>());
    return packed_numbers(std::move(numbers));
  }
  std::string pack_object(const Json& object) {
    std::string all = "{";
    for (const auto& [key, value] : object.items()) {
      check(key);
      (((all += all.size() > 1 ? "," : "") += text_of(key)) += ':') += pack(value);
    }
    return all += '}';
  }
  std::string pack_words(const List& list) {
    Integers places;
    for (const Json* word : list) places.push_back(place_of(word->get_ref<const std::string&>()));
    return object_of("~s", packed_numbers(std::move(places)));
  }
  std::string pack_objects(const List& list) {
    Texts keys, columns;
    for (const auto& [key, value] : list[0]->items()) {
      check(key);
      List column;
      for (const Json* one : list) column.push_back(&one->at(key));
      keys.push_back(fmt::format_int(place_of(key)).str()), columns.push_back(pack_list(column));
    }
    return object_of("c", list_of(columns), "~o", list_of(keys));
  }
  // Rows, or columns if these are shorter for the first rows.
  std::string pack_lists(const List& list) {
    std::size_t wide = 0;
    for (const Json* one : list) wide = std::max(wide, one->size());
    if (wide > kMostWide) return pack_each(list);
    const std::size_t tried = std::min(list.size(), kRowsToTry);
    const List first(list.begin(), list.begin() + std::ptrdiff_t(tried));
    std::string rows = pack_each(first), columns = pack_columns(first, wide);
    const bool by_rows = rows.size() <= columns.size();
    if (tried == list.size()) return by_rows ? rows : columns;
    return by_rows ? pack_each(list) : pack_columns(list, wide);
  }
  std::string pack_columns(const List& list, std::size_t wide) {
    static const Json kBehindEnd = 0;
    Integers lengths;
    for (const Json* one : list) lengths.push_back(std::int64_t(one->size()));
    Texts columns;
    for (std::size_t place = 0; place < wide; ++place) {
      List column;
      for (const Json* one : list)
        column.push_back(place < one->size() ? &(*one)[place] : &kBehindEnd);
      columns.push_back(pack_list(column));
    }
    return object_of("c", list_of(columns), "~l", packed_numbers(std::move(lengths)));
  }
  static void check(const std::string& key) {
    if (key.starts_with('~')) throw std::invalid_argument("packed: the key " + key);
  }
  std::int64_t place_of(const std::string& word) {
    const auto [found, is_new] = places_.try_emplace(word, std::int64_t(places_.size()));
    if (is_new) words_.push_back(text_of(word));
    return found->second;
  }
  std::map<std::string, std::int64_t> places_;
  Texts words_;
};
}  // namespace

std::string packed(const nlohmann::json& data) {
  Packer packer;
  const std::string all = packer.pack(data);
  return object_of("data", all, "~", packer.words());
}
}  // namespace hca::testbench

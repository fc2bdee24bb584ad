// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/page_pack.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "model/proto/types.h"

namespace hca::testbench {
namespace {
using Json = nlohmann::json;
constexpr std::size_t kShortest = 4;   // a list of fewer values stays as it is
constexpr std::size_t kMostWide = 64;  // columns of a table of lists
// Sums of differences of such numbers are exact in a page, where numbers have 53 bits.
constexpr std::int64_t kMostNumber = std::int64_t{1} << 51;

std::size_t bytes_of(const Json& data) { return data.dump(-1, ' ', true).size(); }
void keep_shorter(Json& best, Json other) {
  if (bytes_of(other) < bytes_of(best)) best = std::move(other);
}
bool all_of(const Json& list, bool (*fits)(const Json&)) { return std::ranges::all_of(list, fits); }
bool is_number(const Json& value) {
  return value.is_number_integer() && value <= kMostNumber && value >= -kMostNumber;
}

Json runs_of(const Json& list) {
  Json runs = Json::array();
  for (const Json& value : list) {
    if (!runs.empty() && runs[runs.size() - 2] == value)
      runs.back() = runs.back().get<u64>() + 1;
    else
      runs.push_back(value), runs.push_back(1);
  }
  return {{"~r", std::move(runs)}};
}

Json with_runs(Json list) {
  keep_shorter(list, runs_of(list));
  return list;
}

Json packed_numbers(const Json& list) {
  Json best = with_runs(list);
  if (!all_of(list, is_number)) return best;
  std::vector<std::int64_t> numbers = list;
  std::int64_t divisor = 0;
  for (const std::int64_t number : numbers) divisor = std::gcd(divisor, number);
  if (divisor > 1)
    for (std::int64_t& number : numbers) number /= divisor;
  Json values = with_runs(numbers);
  std::adjacent_difference(numbers.begin(), numbers.end(), numbers.begin());
  keep_shorter(values, {{"~d", with_runs(numbers)}});
  if (divisor > 1) values = {{"~g", divisor}, {"v", std::move(values)}};
  keep_shorter(best, std::move(values));
  return best;
}

bool have_same_keys(const Json& list) {
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const auto& first = list[0].get_ref<const Json::object_t&>();
  return std::ranges::all_of(list, [&](const Json& one) {
    return std::ranges::equal(one.get_ref<const Json::object_t&>(), first, same);
  });
}

class Packer {
 public:
  Json pack(const Json& data) {
    if (data.is_object()) return pack_object(data);
    if (!data.is_array() || data.size() < 2) return data.is_array() ? pack_each(data) : data;
    if (all_of(data, [](const Json& one) { return one.is_string(); })) return pack_words(data);
    if (all_of(data, [](const Json& one) { return one.is_object(); }) && have_same_keys(data))
      return pack_objects(data);
    if (all_of(data, [](const Json& one) { return one.is_array(); })) return pack_lists(data);
    const bool plain = all_of(data, [](const Json& one) { return one.is_primitive(); });
    return plain && data.size() >= kShortest ? packed_numbers(data) : pack_each(data);
  }
  const Json& words() const { return words_; }

 private:
  Json pack_each(const Json& list) {
    Json all = Json::array();
    for (const Json& one : list) all.push_back(pack(one));
    return all;
  }
  Json pack_object(const Json& object) {
    Json all = Json::object();
    for (const auto& [key, value] : object.items()) {
      if (key.starts_with('~')) throw std::invalid_argument("packed: the key " + key);
      all[key] = pack(value);
    }
    return all;
  }
  Json pack_words(const Json& list) {
    Json places = Json::array();
    for (const Json& word : list) places.push_back(place_of(word));
    return {{"~s", places.size() < kShortest ? std::move(places) : packed_numbers(places)}};
  }
  Json pack_objects(const Json& list) {
    Json keys = Json::array(), columns = Json::array();
    for (const auto& [key, value] : list[0].items()) {
      if (key.starts_with('~')) throw std::invalid_argument("packed: the key " + key);
      Json column = Json::array();
      for (const Json& one : list) column.push_back(one.at(key));
      keys.push_back(place_of(key)), columns.push_back(pack(column));
    }
    return {{"~o", std::move(keys)}, {"c", std::move(columns)}};
  }
  Json pack_lists(const Json& list) {
    std::size_t wide = 0;
    Json lengths = Json::array(), columns = Json::array(), best = pack_each(list);
    for (const Json& one : list) wide = std::max(wide, one.size()), lengths.push_back(one.size());
    if (wide > kMostWide) return best;
    for (std::size_t place = 0; place < wide; ++place) {
      Json column = Json::array();
      for (const Json& one : list) column.push_back(place < one.size() ? one[place] : Json(0));
      columns.push_back(pack(column));
    }
    keep_shorter(best, {{"~l", pack(lengths)}, {"c", std::move(columns)}});
    return best;
  }
  std::size_t place_of(const std::string& word) {
    const auto [found, is_new] = places_.try_emplace(word, places_.size());
    if (is_new) words_.push_back(word);
    return found->second;
  }
  std::map<std::string, std::size_t> places_;
  Json words_ = Json::array();
};
}  // namespace

nlohmann::json packed(const nlohmann::json& data) {
  Packer packer;
  Json all = packer.pack(data);
  return {{"~", packer.words()}, {"data", std::move(all)}};
}
}  // namespace hca::testbench

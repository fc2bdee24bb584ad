// SPDX-License-Identifier: Apache-2.0
// The forms of packed data; that unpack.js makes the same data of them is a test of the page.
#include "testbench/report/page_pack.h"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "model/proto/types.h"
#include "testbench/text/rounded.h"

namespace hca::testbench {
namespace {
using nlohmann::json;
json packed_data(const json& data) { return json::parse(packed(data)).at("data"); }
}  // namespace

TEST_CASE("a list of the same value is one run, of numbers in steps a run of differences",
          "[page_pack]") {
  CHECK(packed_data({7.5, 7.5, 7.5, 7.5, 7.5, 7.5}) == json::parse(R"({"~r": [7.5, 6]})"));
  CHECK(packed_data({100, 101, 102, 103, 104, 105, 106, 107, 108, 109}) ==
        json::parse(R"({"~d": {"~r": [100, 1, 1, 9]}})"));
}

TEST_CASE("numbers with a divisor are its multiples", "[page_pack]") {
  CHECK(packed_data({5'000'000, 2'500'000, 10'000'000, 7'500'000}) ==
        json::parse(R"({"~g": 2500000, "v": [2, 1, 4, 3]})"));
  CHECK(packed_data({-6'000'000, 4'000'000, -8'000'000, 2'000'000}) ==
        json::parse(R"({"~g": 2000000, "v": [-3, 2, -4, 1]})"));
}

TEST_CASE("objects with the same keys are columns, others stay", "[page_pack]") {
  const json all = json::parse(packed({{{"a", 1}, {"b", "x"}}, {{"a", 2}, {"b", "x"}}}));
  CHECK(all.at("~") == json({"a", "b", "x"}));
  CHECK(all.at("data") == json::parse(R"({"~o": [0, 1], "c": [[1, 2], {"~s": [2, 2]}]})"));
  const json others = json::parse(R"([{"a": 1}, {"b": 2}])");
  CHECK(packed_data(others) == others);
}

TEST_CASE("lists of several lengths are columns with their lengths", "[page_pack]") {
  const json rows = json::parse(
      "[[1000001,5,9],[1000002,5],[1000003,5,9],[1000004,5,9],[1000005,5,9],[1000006,5,9],"
      "[1000007,5,9],[1000008,5,9]]");
  const json all = packed_data(rows);
  REQUIRE(all.contains("~l"));
  CHECK(all.at("~l") == json({3, 2, 3, 3, 3, 3, 3, 3}));
  CHECK(all.at("c").at(2) == json({9, 0, 9, 9, 9, 9, 9, 9}));
}

// Of 300 rows each has one value 20 times, another one than its neighbours have: 300 runs are shorter
// than 20 columns of 300 values. Then rows whose columns are shorter.
TEST_CASE("a long table has the form that is shorter for its first rows", "[page_pack]") {
  json runs = json::array(), columns = json::array();
  for (u64 row = 0; row < 300; ++row) {
    runs.push_back(json::array());
    for (u64 i = 0; i < 20; ++i) runs.back().push_back(row * row * 1001 + 7);
    columns.push_back({5, row * 1000, "x", 6});
  }
  const json by_row = packed_data(runs), by_column = packed_data(columns);
  REQUIRE(by_row.is_array());
  CHECK(by_row.at(299) == json::parse(R"({"~r": [89490408, 20]})"));
  CHECK(by_column.at("~l") == json::parse(R"({"~r": [4, 300]})"));
  CHECK(by_column.at("c").at(0) == json::parse(R"({"~r": [5, 300]})"));
}

TEST_CASE("short and mixed data stay as they are", "[page_pack]") {
  for (const char* text : {"[]", "[1]", "[1, null, true]", "[1.5, 2, 3]", R"({"a": {}})", "\"x\""})
    CHECK(packed_data(json::parse(text)) == json::parse(text));
}

TEST_CASE("a number that a page cannot add exactly is no difference", "[page_pack]") {
  const u64 large = u64{1} << 60;
  CHECK(packed_data({large, large + 1, large + 2, large + 3}) ==
        json({large, large + 1, large + 2, large + 3}));
}

TEST_CASE("the text of packed data is ASCII", "[page_pack]") {
  CHECK(packed({{"\u00e9", "\u00b5s"}}) == R"({"data":{"\u00e9":"\u00b5s"},"~":[]})");
}

TEST_CASE("rounded numbers are those whose text has five digits", "[page_pack]") {
  for (const double number : {0.0, -0.0, 1.0, -1.0, 2.000001, 0.1, 1.0 / 3, -2e-7, 99'999.4,
                              99'999.6, 123'456.0, 1e300, 4.9e-324, 12'345.0})
    CHECK(rounded(number).dump() == json::parse(fmt::format("{:.5g}", number)).dump());
}

TEST_CASE("numbers are appended as printf writes them", "[page_pack]") {
  for (const double number : {0.0, -0.0, 1.0, 100'000.0, 1e6, 0.0001, 0.00001, 1.0 / 3, -2e-7,
                              999'999.5, 0.1234565, 1e300, 4.9e-324})
    for (const int digits : {1, 5, 6, 17}) {
      std::array<char, 64> expected{};
      std::snprintf(expected.data(), expected.size(), "(%.*g", digits, number);
      std::string text = "(";
      append_rounded(text, number, digits);
      CHECK(text == expected.data());
    }
}

TEST_CASE("a key that looks like a form is refused", "[page_pack]") {
  CHECK_THROWS_AS(packed({{"~r", 1}}), std::invalid_argument);
  CHECK_THROWS_AS(packed({{{"~r", 1}}, {{"~r", 2}}}), std::invalid_argument);
}
}  // namespace hca::testbench

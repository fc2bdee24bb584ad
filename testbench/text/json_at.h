// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
// "27", "0x1b"; not "033", which could be read as octal.
std::optional<u64> parse_literal(std::string_view text);

// A value of a JSON text and its path there, "events[3].sge[0][1]". A value of the wrong kind
// throws std::runtime_error: "path: what is wrong; allowed: ...". The JSON must outlive it.
class JsonAt {
 public:
  explicit JsonAt(const nlohmann::json& value, std::string path = {})
      : value_(value), path_(std::move(path)) {}
  JsonAt operator[](std::string_view name) const;  // of an object, which must have it
  JsonAt operator[](std::size_t index) const;      // of a list, which must have this entry
  bool has(std::string_view name) const { return value_.contains(name); }
  std::vector<JsonAt> entries() const;  // of a list

  // Checks that an object has only these members.
  void check_keys(std::initializer_list<std::string_view> allowed) const;

  // A whole number, or a string with one: "27", "0x1b".
  u64 number(u64 min = 0, u64 max = ~u64{0}) const;
  bool truth() const;  // a boolean
  const std::string& text() const;
  // A string of hex digits in pairs; `bytes`: the required number of bytes, 0: any.
  std::vector<u8> hex(std::size_t bytes = 0) const;

  const nlohmann::json& value() const { return value_; }
  const std::string& path() const { return path_; }
  [[noreturn]] void refuse(std::string_view problem, std::string_view allowed) const;

 private:
  [[noreturn]] void refuse_value(std::string_view allowed) const;
  const nlohmann::json& value_;
  std::string path_;
};

// The maximum nesting of values: readers recurse.
inline constexpr int kDeepestJson = 100;
// Throws std::runtime_error "line: (top): ..." for invalid JSON.
nlohmann::json parse_json(std::string_view text);
}  // namespace hca::testbench

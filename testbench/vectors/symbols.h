// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "testbench/text/json_at.h"

namespace hca::testbench {
// The numbers of a vector: "27", "0x1b", a name, or several of them joined by +, - and |: "m + 64",
// "m.key", "local_write | remote_read". Objects of the set-up have names; states, statuses and
// rights too.
class Symbols {
 public:
  Symbols();
  // Defines a name, once. `where` is the object for an error. The part before the dot of "m.key"
  // counts as a name.
  void define(const std::string& name, u64 value, const JsonAt& where);
  u64 value(const JsonAt& json, u64 max = ~u64{0}) const;
  // The number of an object's member; `otherwise` if it is missing.
  u64 value_or(const JsonAt& object, const char* key, u64 otherwise, u64 max = ~u64{0}) const;

 private:
  u64 term(std::string_view text, const JsonAt& where) const;
  std::map<std::string, u64, std::less<>> values_;
};

// Letters, digits and _, not beginning with a digit.
bool is_name(std::string_view text);
// Checks the form of a number; its names may be unknown.
void check_number_form(const JsonAt& json);

// A time with its unit, in ns, not 0: "100 ns", "4 us", "65 ms", "2 s".
u64 nanoseconds_of(const JsonAt& json);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>

#include "testbench/text/json_at.h"

namespace hca::testbench {
// The numbers of a vector: "27", "0x1b", a name, or several of them with +, - and | between: "m +
// 64", "m.key", "local_write | remote_read". Objects of the set-up have names; so have states,
// statuses and rights.
class Symbols {
 public:
  Symbols();
  // `where` names the object in an error: a name is given once. Of "m.key" the part in front is
  // one.
  void define(const std::string& name, u64 value, const JsonAt& where);
  u64 value(const JsonAt& json, u64 max = ~u64{0}) const;
  // Of an object's member, which it may lack.
  u64 value_or(const JsonAt& object, const char* key, u64 otherwise, u64 max = ~u64{0}) const;

 private:
  u64 term(std::string_view text, const JsonAt& where) const;
  std::map<std::string, u64, std::less<>> values_;
};

// Letters, digits and _, no digit in front.
bool is_name(std::string_view text);
// What has the form of a number; its names may be any.
void check_number_form(const JsonAt& json);

// A time with its unit, in ns, not 0: "100 ns", "4 us", "65 ms", "2 s".
u64 nanoseconds_of(const JsonAt& json);
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/sv_text.h"

#include <cctype>

namespace hca::testbench {
namespace {
std::string type_of(const proto::FieldInfo& f) {
  return f.name == "framing"   ? "framing_e"
         : f.name == "mode"    ? "icrc_mode_e"
         : f.name == "verdict" ? "verdict_e"
         : f.bits == 1         ? "logic"
                               : fmt::format("logic [{}:0]", f.bits - 1);
}
}  // namespace

std::string identifier(std::string_view name) {
  std::string out;
  for (const char c : name) out += std::isalnum(u8(c)) ? char(std::tolower(u8(c))) : '_';
  return out;
}
std::string capitalized(std::string_view name) {
  std::string out = identifier(name);
  out[0] = char(std::toupper(u8(out[0])));
  return out;
}
std::string number(std::string_view name, unsigned bits, u64 value) {
  return fmt::format("  localparam logic [{}:0] {} = {}'h{:x};\n", bits - 1, name, bits, value);
}
std::string size(std::string_view name, u64 value) {
  return fmt::format("  localparam int unsigned {} = {};\n", name, value);
}
std::string struct_fields(const proto::HeaderInfo& header) {
  std::string out;
  for (const auto& f : header) out += fmt::format("    {} {};\n", type_of(f), f.name);
  return out;
}
}  // namespace hca::testbench

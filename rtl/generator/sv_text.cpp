// SPDX-License-Identifier: Apache-2.0
#include "rtl/generator/sv_text.h"

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
std::string packed_struct(const proto::HeaderInfo& header) {
  std::string out = fmt::format(
      "  // {}, {} bytes, as sent: most significant bit first.\n"
      "  typedef struct packed {{\n",
      header.name, header.bytes);
  for (const auto& f : header) {
    std::string name = identifier(f.name);
    if (f.is_reserved) name += fmt::format("_at{}", f.bit_at);
    const std::string width = f.bits == 1 ? "" : fmt::format("[{}:0] ", f.bits - 1);
    const bool variant = f.icrc == proto::Icrc::Variant;
    out += fmt::format("    logic {}{};{}\n", width, name, variant ? "  // variant" : "");
  }
  return out + fmt::format("  }} {}_t;\n\n", identifier(header.name));
}
}  // namespace hca::testbench

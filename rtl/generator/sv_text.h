// SPDX-License-Identifier: Apache-2.0
// Generates pieces of SystemVerilog from tables, for hca_pkg.
#pragma once
#include <fmt/format.h>

#include <string>

#include "rtl/common/side_band.h"

namespace hca::testbench {
// "RDMA READ": rdma_read.
std::string identifier(std::string_view name);
// "RDMA READ": Rdma_read.
std::string capitalized(std::string_view name);
std::string number(std::string_view name, unsigned bits, u64 value);
std::string size(std::string_view name, u64 value);
// A number for each name, counted from 0 on; entries without a name are left out.
template <class Names>
std::string names_of(std::string_view prefix, unsigned bits, const Names& names) {
  std::string out;
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (!std::string_view(names[i]).empty())
      out += number(fmt::format("{}{}", prefix, names[i]), bits, i);
  return out;
}
// A header or device structure as it is in memory, with its reserved bits among its fields.
std::string packed_struct(const proto::HeaderInfo& header);
// Its fields one by one, as members of a struct.
std::string struct_fields(const proto::HeaderInfo& header);
template <class Fields>
std::string plain_struct(std::string_view comment, std::string_view name) {
  return fmt::format("  // {}\n  typedef struct packed {{\n{}  }} {}_t;\n\n", comment,
                     struct_fields(proto::kHeaderInfo<Fields>), name);
}
// In a side band its own fields are members one by one; a header in it is one member.
template <class Control>
std::string side_band(std::string_view comment) {
  std::string out = fmt::format("  // {}\n  typedef struct packed {{\n", comment);
  bool ext = false;
  rtl::SideBand<Control>::for_each_part(
      [&](std::string_view name, const proto::HeaderInfo& header, unsigned) {
        if (name.substr(0, 4) == "ext.") {
          if (!ext) out += "    ext_headers_t ext;\n";
          ext = true;
        } else if (!name.empty()) {
          out += fmt::format("    {}_t {};\n", identifier(header.name), name);
        } else {
          out += struct_fields(header);
        }
      });
  return out + fmt::format("  }} {}_t;\n\n", identifier(rtl::SideBand<Control>::kName));
}
// The lowest bit of a field in a side band; the last field is in bit 0.
template <class Control>
u64 lowest_bit(std::string_view field) {
  u64 bit = 0;
  rtl::SideBand<Control>::for_each_part(
      [&](std::string_view, const proto::HeaderInfo& header, unsigned from) {
        for (const auto& f : header)
          if (f.name == field)
            bit = 8 * (rtl::SideBand<Control>::kBytes - from) - f.bit_at - f.bits;
      });
  return bit;
}
}  // namespace hca::testbench

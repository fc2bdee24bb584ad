// SPDX-License-Identifier: Apache-2.0
#include "testbench/golden/frame_arguments.h"

#include <fmt/format.h>

#include "model/proto/wire/dissect.h"
#include "testbench/golden/hca_golden.h"
#include "testbench/vectors/fields.h"

namespace hca::testbench {
using namespace proto;

std::string wrong_frame(u32 bytes, u32 link) {
  if (bytes > HCA_GOLDEN_FRAME_BYTES)
    return fmt::format("{} bytes; allowed: at most {}", bytes, HCA_GOLDEN_FRAME_BYTES);
  if (link > HCA_GOLDEN_INFINIBAND)
    return fmt::format("link {}; allowed: {} (Ethernet), {} (InfiniBand)", link,
                       int{HCA_GOLDEN_ETHERNET}, int{HCA_GOLDEN_INFINIBAND});
  return {};
}

FieldName field_name(std::string_view name) {
  const auto dot = name.find('.');
  if (dot == name.npos)
    return {.wrong = fmt::format("'{}'; allowed: HEADER.FIELD as in BTH.PSN", name)};
  const std::string_view header_name = name.substr(0, dot), in_header = name.substr(dot + 1);
  std::string names;
  const auto try_header = [&](const HeaderInfo& header) -> const HeaderInfo* {
    names += (names.empty() ? "" : ", ") + std::string(header.name);
    return header.name == header_name ? &header : nullptr;
  };
  const HeaderInfo* header = nullptr;
  for (const HeaderInfo& one : kBaseHeaders)
    if (!header) header = try_header(one);
  for (const HeaderInfo& one : kExtHeaders)
    if (!header) header = try_header(one);
  if (!header) return {.wrong = fmt::format("no header '{}'; allowed: {}", header_name, names)};
  const FieldInfo* const field = find_field(*header, in_header);
  if (!field)
    return {.wrong = fmt::format("{} has no field '{}'; allowed: {}", header_name, in_header,
                                 names_of_fields(*header))};
  if (field->bits > 64)
    return {.wrong = fmt::format("{} has {} bits; allowed: at most 64", name, field->bits)};
  return {header, field, {}};
}
}  // namespace hca::testbench

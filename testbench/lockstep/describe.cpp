// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/describe.h"

#include <fmt/format.h>

#include "model/proto/wire/dissect.h"
#include "model/proto/wire/print.h"

namespace hca::testbench {
std::string headers_of(std::span<const u8> frame, proto::LinkLayer link) {
  std::string out;
  for (const proto::HeaderPlace& place : proto::dissect(frame, link)) {
    const u8* const header = frame.data() + place.offset;
    out += fmt::format("\n    {}:", place.header->name);
    for (const proto::FieldInfo& field : *place.header) {
      const std::string meaning = proto::meaning_of(*place.header, field, header);
      out += fmt::format(" {} {}{}", field.name, proto::value_text(field, header),
                         meaning.empty() ? "" : " (" + meaning + ")");
    }
  }
  return out;
}

std::string hex_dump(std::span<const u8> bytes) {
  std::string out;
  for (u32 i = 0; i < bytes.size(); ++i) {
    if (i % 32 == 0) out += fmt::format("\n    {:04x}:", i);
    out += fmt::format(" {:02x}", bytes[i]);
  }
  return out;
}
}  // namespace hca::testbench

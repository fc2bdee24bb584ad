// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/describe.h"

#include <fmt/format.h>

#include "model/proto/dissect.h"
#include "model/proto/print.h"

namespace hca::testbench {
namespace {
std::string headers_of(const IcrcPacket& p, u32 bytes) {
  std::vector<u8> frame(p.frame.begin(), p.frame.begin() + bytes);
  const proto::LinkLayer link = proto::framing_row(p.framing).link;
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

std::string hex_dump(const std::vector<u8>& bytes, u32 size) {
  std::string out;
  for (u32 i = 0; i < size; ++i) {
    if (i % 32 == 0) out += fmt::format("\n    {:04x}:", i);
    out += fmt::format(" {:02x}", bytes[i]);
  }
  return out;
}
}  // namespace

std::string describe(const IcrcPacket& p, u32 bytes) {
  constexpr std::array kModes{"bypass", "generate", "check"};
  return fmt::format("packet {}, {}: {}; {} bytes{}{}\n", p.number, kModes[unsigned(p.mode)],
                     p.what, bytes, headers_of(p, bytes), hex_dump(p.frame, bytes));
}
}  // namespace hca::testbench

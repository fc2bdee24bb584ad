// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/divergence.h"

namespace hca::testbench {
namespace {
bool is_place(std::string_view part, std::string_view field) {
  return part.empty() && (field == "first" || field == "last" || field == "bytes");
}
// Small values in decimal, large ones in hexadecimal.
std::string value_of(const proto::FieldInfo& field, const u8* header) {
  if (field.bits <= 8) return fmt::format("{}", proto::get_bits(header, field.bit_at, field.bits));
  std::string out = "0x";
  for (unsigned left = field.bits, digits = (field.bits + 3) / 4; digits; --digits) {
    const unsigned bits = (left - 1) % 4 + 1;
    out += fmt::format("{:x}", proto::get_bits(header, field.bit_at + field.bits - left, bits));
    left -= bits;
  }
  return out;
}
}  // namespace

std::optional<PinDifference> difference_in(std::string_view part, const proto::HeaderInfo& header,
                                           const u8* model, const u8* rtl, bool place) {
  for (const proto::FieldInfo& f : header) {
    if (is_place(part, f.name) != place) continue;
    const std::string m = value_of(f, model), r = value_of(f, rtl);
    if (m == r) continue;
    return PinDifference{part.empty() ? std::string(f.name) : fmt::format("{}.{}", part, f.name), m,
                         r};
  }
  return {};
}

std::optional<PinDifference> difference(std::span<const u8> model, std::span<const u8> rtl,
                                        u32 offset, std::string_view of) {
  const auto [m, r] = std::mismatch(model.begin(), model.end(), rtl.begin());
  if (m == model.end()) return {};
  const u32 i = u32(m - model.begin());
  return PinDifference{
      fmt::format("data[{}:{}] (byte {} of the {})", 8 * i + 7, 8 * i, offset + i, of),
      fmt::format("{:#04x}", *m), fmt::format("{:#04x}", *r)};
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// Differences between RTL and model.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>

#include "model/engine/cycle.h"
#include "rtl/common/side_band.h"

namespace hca::testbench {
struct Divergence {
  engine::Cycle cycle = 0;
  std::string port, field, model, rtl;  // where, and the value on either side
  std::string packet;                   // the packet, several lines with its bytes
  engine::Cycle behind_reset = 0;       // cycles since the last reset; 0: there was none
  std::string where() const { return port + "." + field; }
  std::string line() const {
    return fmt::format("cycle {}, {}: model {}, RTL {}", cycle, where(), model, rtl);
  }
  std::string text() const {
    const std::string reset =
        behind_reset ? fmt::format("  cycle {} behind the last reset\n", behind_reset) : "";
    return fmt::format("{}\n  {}{}", line(), packet, reset);
  }
};

// The first field in which two side bands differ, with both values. Either only the fields of a
// beat's place in its packet are compared, or only the others.
struct PinDifference {
  std::string field, model, rtl;
};
std::optional<PinDifference> difference_in(std::string_view part, const proto::HeaderInfo& header,
                                           const u8* model, const u8* rtl, bool place);
template <class Control>
std::optional<PinDifference> difference(const Control& model, const Control& rtl, bool place) {
  using Band = hca::rtl::SideBand<Control>;
  std::array<u8, Band::kBytes> m, r;
  Band::encode(model, m.data());
  Band::encode(rtl, r.data());
  if (m == r) return {};
  std::optional<PinDifference> first;
  Band::for_each_part([&](std::string_view name, const proto::HeaderInfo& h, unsigned at) {
    if (!first) first = difference_in(name, h, m.data() + at, r.data() + at, place);
  });
  return first;
}
// The first byte that differs. `offset`: offset of the beat in the bytes that `of` names.
std::optional<PinDifference> difference(std::span<const u8> model, std::span<const u8> rtl,
                                        u32 offset, std::string_view of);
// Inverts the lowest bit of the field with that name.
template <class Control>
void turn_field(Control& control, std::string_view name) {
  using Band = hca::rtl::SideBand<Control>;
  std::array<u8, Band::kBytes> bits;
  Band::encode(control, bits.data());
  Band::for_each_part([&](std::string_view, const proto::HeaderInfo& h, unsigned at) {
    for (const proto::FieldInfo& f : h)
      if (f.name == name)
        bits[at + (f.bit_at + f.bits - 1) / 8] ^= u8(0x80u >> (f.bit_at + f.bits - 1) % 8);
  });
  Band::decode(bits.data(), control);
}
}  // namespace hca::testbench

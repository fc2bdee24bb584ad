// SPDX-License-Identifier: Apache-2.0
// One beat of a packet stream on the pins of an RTL block. The SystemVerilog struct `beat_t` of
// hca_pkg is generated from this table, so both sides always agree on the bits. The data is a
// separate signal, as wide as the block: 32 or 64 bytes.
#pragma once
#include <array>

#include "model/proto/wire/layout.h"

namespace hca::rtl {
inline constexpr unsigned kMaxBeatBytes = 64;

// The side band of a beat. Byte i of a beat is data[8 * i + 7 : 8 * i]; byte 0 of the frame comes
// first.
struct BeatControl {
  bool vcrc_ok;  // with the last beat of a native packet in check mode: its VCRC is right
  bool icrc_ok;  // with the last beat of a packet in check mode: its ICRC is right
  bool vlan;   // side band of the packet, read with the first beat: the Ethernet header has a VLAN
               // tag
  u8 framing;  // side band: framing_e
  u8 mode;     // side band: icrc_mode_e
  bool first;
  bool last;
  u8 bytes;  // bytes of the frame in this beat: all; in the last one 1 or more
  friend constexpr bool operator==(const BeatControl&, const BeatControl&) = default;
};

template <class Control>
struct BeatOf {
  Control control{};
  std::array<u8, kMaxBeatBytes> data{};
  friend constexpr bool operator==(const BeatOf&, const BeatOf&) = default;
};
using Beat = BeatOf<BeatControl>;
}  // namespace hca::rtl

namespace hca::proto {
template <>
struct Layout<rtl::BeatControl> {
  static constexpr std::string_view name = "beat";
  static constexpr auto fields = make_rows(reserved("spare", 7, ""),                         //
                                           field(&rtl::BeatControl::vcrc_ok, "vcrc_ok", 1),  //
                                           field(&rtl::BeatControl::icrc_ok, "icrc_ok", 1),  //
                                           field(&rtl::BeatControl::vlan, "vlan", 1),        //
                                           field(&rtl::BeatControl::framing, "framing", 3),  //
                                           field(&rtl::BeatControl::mode, "mode", 2),        //
                                           field(&rtl::BeatControl::first, "first", 1),      //
                                           field(&rtl::BeatControl::last, "last", 1),        //
                                           field(&rtl::BeatControl::bytes, "bytes", 7));
};
static_assert(bytes_of<rtl::BeatControl>() == 3);
}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// Sends single frames through rtl/icrc/icrc.sv, and the frames of T2.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "model/blocks/port/icrc_unit.h"
#include "rtl/cpp/icrc_rtl.h"
#include "testbench/lockstep/pins.h"

namespace hca::testbench {
using blocks::IcrcMode;
using proto::Framing;
using Bytes = std::vector<u8>;

inline Bytes from_hex(std::string_view text) {
  const auto digit = [](char c) { return u8(c <= '9' ? c - '0' : (c | 32) - 'a' + 10); };
  Bytes bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    if (high < 0) {
      high = digit(c);
    } else {
      bytes.push_back(u8(high << 4 | digit(c)));
      high = -1;
    }
  }
  return bytes;
}
inline std::string hex(const Bytes& bytes) {
  std::string out;
  for (const u8 b : bytes) {
    out += "0123456789abcdef"[b >> 4];
    out += "0123456789abcdef"[b & 15];
  }
  return out;
}
inline Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct RtlFrame {
  Bytes bytes;
  bool icrc_ok = false, vcrc_ok = false;  // with the last beat
  bool ok_early = false;                  // one of them with any other
  unsigned latency = 0;                   // cycles from the first beat in to the first beat out
};

inline rtl::Beat pins_of(const Bytes& frame, u32 index, IcrcMode mode, Framing framing, bool vlan,
                         u32 beat_bytes = rtl::kMaxBeatBytes) {
  rtl::Beat beat = beat_of<rtl::BeatControl>(frame, index, beat_bytes);
  beat.control.mode = u8(mode), beat.control.framing = u8(framing), beat.control.vlan = vlan;
  return beat;
}

inline RtlFrame through_rtl(rtl::IcrcRtl& rtl, const Bytes& frame, IcrcMode mode, Framing framing,
                            bool vlan = false) {
  RtlFrame out;
  const u32 beats = beats_of(u32(frame.size()), rtl.beat_bytes());
  for (u32 cycle = 0; cycle < beats + 20; ++cycle) {
    rtl.begin_cycle(true);
    if (rtl.out_valid()) {
      const rtl::Beat beat = rtl.out();
      if (beat.control.first) out.latency = cycle;
      out.bytes.insert(out.bytes.end(), beat.data.begin(), beat.data.begin() + beat.control.bytes);
      if (beat.control.last)
        out.icrc_ok = beat.control.icrc_ok, out.vcrc_ok = beat.control.vcrc_ok;
      else
        out.ok_early |= beat.control.icrc_ok || beat.control.vcrc_ok;
    }
    if (cycle < beats) {
      const rtl::Beat beat = pins_of(frame, cycle, mode, framing, vlan, rtl.beat_bytes());
      rtl.drive(&beat);
    } else {
      rtl.drive(nullptr);
    }
    rtl.end_cycle();
  }
  return out;
}

// The CRC vectors of T2: a frame, the bytes of its ICRC and, natively, of its VCRC.
struct IcrcVector {
  std::string_view name;
  Framing framing;
  Bytes frame;  // without Ethernet header and CRCs
  Bytes crcs;
};
inline const std::vector<IcrcVector>& icrc_vectors() {
  static const Bytes sample = from_hex(
      "0A 20 24 87 00 87 B1 B3 00 0D EC 2A 01 71 0A 1C 01 5D 40 02 38 F2 7A 05 00 00 00 0E"
      "BB 88 4D 85 FD 5C FB A4 72 8B C0 69 0E D4 00 00");
  static const std::vector<IcrcVector> vectors{
      {"1: native local", Framing::IbLocal, from_hex("70 12 37 5C 00 0E 17 D2") + sample,
       from_hex("96 25 B7 5A 45 FA")},
      {"2: native global", Framing::IbGlobal,
       from_hex("70 13 37 5C 00 18 17 D2 60 00 00 00 00 32 00 10 0000000000000125 0000000000000026"
                "0000000000000117 0000000000000096") +
           sample,
       from_hex("14 93 EC 46 7C 44")},
      {"3: RoCEv2 IPv4, UC SEND Only", Framing::RoceV2Ip4,
       from_hex(
           "45 01 00 40 04 78 40 00 40 11 A4 DF C0 A8 00 07 C0 A8 00 07 C0 00 12 B7 00 2C 00 00"
           "24 60 FF FF 00 00 00 D3 00 CF 17 10 46 30 81 8B E2 89 35 D9 0E 9A 95 50 54 01 BE 88"
           "5E 50 00 00"),
       from_hex("78 F3 53 F3")},
      {"4: RoCEv2 CNP from hardware", Framing::RoceV2Ip4,
       from_hex("45C2003C718C4000401191610A0011010A001201 000012B700280000 8100FFFF4000011800000000"
                "00000000000000000000000000000000"),
       from_hex("82 FD 00 2A")},
      {"5: RoCEv2 IPv6", Framing::RoceV2Ip6,
       from_hex("6AB1234500281140 FE800000000000000202C9FFFE000001 FE800000000000000202C9FFFE000002"
                "C12312B700280000 0400FFFF0000012380000456 000102030405060708090A0B0C0D0E0F"),
       from_hex("03 81 C8 20")}};
  return vectors;
}

// Puts an Ethernet header before a frame of RoCE; a native frame stays as it is.
inline Bytes on_the_wire(const IcrcVector& v, bool vlan) {
  if (proto::is_native(v.framing)) return v.frame;
  const Bytes ethernet = from_hex("02 11 22 33 44 55 02 66 77 88 99 AA");
  const Bytes type = v.framing == Framing::RoceV2Ip6 ? from_hex("86 DD") : from_hex("08 00");
  return ethernet + (vlan ? from_hex("81 00 60 0A") : Bytes{}) + type + v.frame;
}
}  // namespace hca::testbench

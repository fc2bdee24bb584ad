// SPDX-License-Identifier: Apache-2.0
// Frames with CRCs from other sources: the InfiniBand specification's sample (ICRC), a CNP of real
// hardware, and an IPv6 frame computed bit by bit.
#pragma once
#include <string_view>
#include <vector>

#include "model/proto/wire/packet.h"

namespace example {
using hca::u32;
using hca::u8;
using Bytes = std::vector<u8>;

inline Bytes hex(std::string_view text) {
  Bytes out;
  const auto digit = [](char c) { return u8(c <= '9' ? c - '0' : c - 'A' + 10); };
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(u8(digit(text[i]) << 4 | digit(text[i + 1])));
  return out;
}
struct Known {
  hca::proto::Framing framing;
  Bytes frame, crcs;  // frame up to the ICRC; crcs: the ICRC and, in native framings, the VCRC
};
inline std::vector<Known> known_frames() {
  using hca::proto::Framing;
  return {{Framing::IbLocal,
           hex("7012375C000E17D20A2024870087B1B3000DEC2A01710A1C015D400238F27A05"
               "0000000EBB884D85FD5CFBA4728BC0690ED40000"),
           hex("9625B75A45FA")},
          {Framing::RoceV2Ip4,
           hex("0200000000020200000000010800"
               "45C2003C718C4000401191610A0011010A001201000012B700280000"
               "8100FFFF400001180000000000000000000000000000000000000000"),
           hex("82FD002A")},
          {Framing::RoceV2Ip6,
           hex("02000000000202000000000186DD"
               "6AB1234500281140FE800000000000000202C9FFFE000001FE800000000000000202C9FFFE000002"
               "C12312B7002800000400FFFF0000012380000456000102030405060708090A0B0C0D0E0F"),
           hex("0381C820")}};
}
}  // namespace example

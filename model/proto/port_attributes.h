// SPDX-License-Identifier: Apache-2.0
// What SetPort and QueryPort carry: a port and its tables.
#pragma once
#include <array>

#include "model/proto/device.h"

namespace hca::proto {
inline constexpr unsigned kGidEntries = 8, kPkeyEntries = 16;

struct PortAttributes {
  u8 framing = 0;  // enum Framing
  u16 lid = 0;
  u32 mtu = 4096;  // largest payload of a packet
  u64 mac = 0;
  std::array<Gid, kGidEntries> gids{};
  std::array<u16, kPkeyEntries> pkeys{0xffff};
};
template <>
struct Layout<PortAttributes> {
  static constexpr std::string_view name = "port attributes";
  static constexpr auto fields = std::make_tuple(
      field(&PortAttributes::framing, "Framing", 8,
            "0 IB local, 1 IB global, 2 RoCEv1, 3 and 4 RoCEv2"),
      unused(8), field(&PortAttributes::lid, "LID", 16, "of the port"),
      field(&PortAttributes::mtu, "MTU", 32, "largest payload of a packet"), unused(16),
      field(&PortAttributes::mac, "MAC", 48, "of the port"),
      field(&PortAttributes::gids, "GIDs", 128 * kGidEntries,
            "8 entries of 16 bytes; ::ffff:a.b.c.d for IPv4"),
      field(&PortAttributes::pkeys, "P_Keys", 16 * kPkeyEntries, "16 entries of 2 bytes"));
};

// An entry of the GID table as two numbers, low and high half.
constexpr Gid make_gid(u64 high, u64 low) {
  Gid gid;
  store_be<8>(gid.bytes.data(), high);
  store_be<8>(gid.bytes.data() + 8, low);
  return gid;
}
}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// Numbers of the pcap file format.
#pragma once
#include <optional>

#include "model/proto/types.h"

namespace hca::testbench::pcap_format {
// Recognised by the first four bytes, read big endian.
struct Variant {
  u32 magic;
  bool is_swapped;  // its numbers are little endian
  bool has_nanoseconds;
  u32 record_header_bytes;
};
inline constexpr Variant kVariants[]{
    {0xA1B2C3D4, false, false, 16}, {0xD4C3B2A1, true, false, 16},  {0xA1B23C4D, false, true, 16},
    {0x4D3CB2A1, true, true, 16},   {0xA1B2CD34, false, false, 24}, {0x34CDB2A1, true, false, 24},
};
constexpr std::optional<Variant> variant_of(u32 magic) {
  for (const Variant& v : kVariants)
    if (v.magic == magic) return v;
  return std::nullopt;
}
inline constexpr u32 kHeaderBytes = 24;
// Parts of the last word of the file's header: link type, "the next field is valid", FCS in 16-bit
// words.
inline constexpr u32 kLinkTypeMask = 0x0000FFFF, kHasFcsLength = 0x04000000, kFcsShift = 28;
}  // namespace hca::testbench::pcap_format

// An ERF record, the link type 197: 8 bytes of time, type, flags, record length, loss counter,
// length on the wire.
namespace hca::testbench::erf_format {
inline constexpr u32 kHeaderBytes = 16, kTypeAt = 8, kLengthAt = 10, kWireLengthAt = 14;
inline constexpr u8 kInfiniBand = 21;
// In the type, and in the first byte of each 8-byte extension header.
inline constexpr u8 kMoreHeaders = 0x80;
}  // namespace hca::testbench::erf_format

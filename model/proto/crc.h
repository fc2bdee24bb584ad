// SPDX-License-Identifier: Apache-2.0
// The two CRCs of an InfiniBand packet over plain bytes (T2). What is masked, icrc.cpp
// says.
#pragma once
#include <array>
#include <cstddef>

#include "model/proto/types.h"

namespace hca::proto {

// CRC-32 of the ICRC: reflected 0x04C11DB7, `crc` is 0 or the result over the bytes before.
u32 crc32(u32 crc, const u8* bytes, std::size_t size);

// Over the eight bytes 0xFF that stand for an LRH which is absent or wholly variant.
inline constexpr u32 kCrcOfMaskedLrh = ~u32{0xDEBB20E3};

// Row k holds the register after a byte followed by k zero bytes, from a register of 0.
using Crc32Row = std::array<u32, 256>;
constexpr Crc32Row crc32_row(unsigned zeros) {
  Crc32Row first{}, row{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    u32 reg = byte;
    for (int bit = 0; bit < 8; ++bit) reg = reg & 1 ? reg >> 1 ^ 0xEDB88320 : reg >> 1;
    first[byte] = reg;
  }
  row = first;
  for (; zeros > 0; --zeros)
    for (u32& reg : row) reg = reg >> 8 ^ first[reg & 0xFF];
  return row;
}

// The register `reg` after `bytes` zero bytes: what a difference in front of them does to the CRC.
u32 crc32_after_zeros(u32 reg, std::size_t bytes);

// CRC-16 of the VCRC over LRH to ICRC; `crc` is 0 or the result over the bytes before.
u16 crc16_vcrc(u16 crc, const u8* bytes, std::size_t size);

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
// The two CRCs of an InfiniBand packet over plain bytes (T2). The masking is in icrc.cpp.
#pragma once
#include <cstddef>

#include "model/proto/types.h"

namespace hca::proto {

// CRC-32 of the ICRC: reflected 0x04C11DB7. `crc`: 0, or the result over the previous bytes.
u32 crc32(u32 crc, const u8* bytes, std::size_t size);

// The CRC over the eight bytes 0xFF that stand for an LRH which is absent or wholly variant.
inline constexpr u32 kCrcOfMaskedLrh = ~u32{0xDEBB20E3};

// CRC-16 of the VCRC over LRH to ICRC. `crc`: 0, or the result over the previous bytes.
u16 crc16_vcrc(u16 crc, const u8* bytes, std::size_t size);

}  // namespace hca::proto

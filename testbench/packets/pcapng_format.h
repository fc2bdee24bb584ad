// SPDX-License-Identifier: Apache-2.0
// Numbers of the pcapng file format.
#pragma once
#include "model/proto/types.h"

namespace hca::testbench::pcapng {
inline constexpr u32 kSectionHeader = 0x0A0D0D0A, kInterface = 1, kPacket = 2, kSimplePacket = 3,
                     kEnhancedPacket = 6;
inline constexpr u32 kByteOrderMagic = 0x1A2B3C4D;
inline constexpr u16 kOptionEnd = 0, kOptionName = 2, kOptionResolution = 9, kOptionFcsLength = 13,
                     kOptionOffset = 14;
// An option of an enhanced packet block.
inline constexpr u16 kOptionFlags = 2;
inline constexpr u32 kInbound = 1, kOutbound = 2;
}  // namespace hca::testbench::pcapng

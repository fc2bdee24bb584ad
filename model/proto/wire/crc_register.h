// SPDX-License-Identifier: Apache-2.0
// The registers of ICRC and VCRC, bit by bit, forward and back (T2).
#pragma once
#include "model/proto/types.h"

namespace hca::proto {
struct CrcRegister {
  unsigned bits;
  u32 polynomial;  // reflected

  constexpr u32 ones() const { return u32(~u64{0} >> (64 - bits)); }
  // The register after this many bits of 0, and before them.
  constexpr u32 forward(u32 reg, unsigned steps) const {
    for (; steps; --steps) reg = reg >> 1 ^ (reg & 1 ? polynomial : 0);
    return reg;
  }
  constexpr u32 backward(u32 reg, unsigned steps) const {
    for (; steps; --steps)
      reg = (reg >> (bits - 1) ? (reg ^ polynomial) << 1 | 1 : reg << 1) & ones();
    return reg;
  }
};
inline constexpr CrcRegister kIcrcRegister{32, 0xedb88320};  // 0x04c11db7
inline constexpr CrcRegister kVcrcRegister{16, 0xd008};      // 0x100b: x^16+x^12+x^3+x+1
static_assert(kIcrcRegister.backward(kIcrcRegister.forward(0x12345678, 13), 13) == 0x12345678);
static_assert(kVcrcRegister.backward(kVcrcRegister.forward(0x1234, 13), 13) == 0x1234);
}  // namespace hca::proto

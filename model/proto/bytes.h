// SPDX-License-Identifier: Apache-2.0
// Big-endian numbers and runs of bits in byte strings.
#pragma once
#include <bit>
#include <cstring>
#include <type_traits>

#include "model/proto/types.h"

namespace hca::proto {

// An unsigned number of 1, 2, 4 or 8 bytes.
template <unsigned Bytes>
using Unsigned = std::conditional_t<
    Bytes == 1, u8, std::conditional_t<Bytes == 2, u16, std::conditional_t<Bytes == 4, u32, u64>>>;

constexpr u8 swapped(u8 v) { return v; }
constexpr u16 swapped(u16 v) { return __builtin_bswap16(v); }
constexpr u32 swapped(u32 v) { return __builtin_bswap32(v); }
constexpr u64 swapped(u64 v) { return __builtin_bswap64(v); }

// The big-endian number in `Bytes` bytes: a load and a byte swap.
template <unsigned Bytes>
constexpr u64 load_be(const u8* p) {
  static_assert(std::has_single_bit(Bytes) && Bytes <= 8);
  Unsigned<Bytes> v{};
  if (std::is_constant_evaluated()) {
    for (unsigned i = 0; i < Bytes; ++i) v = Unsigned<Bytes>(u64{v} << 8 | p[i]);
    return v;
  }
  std::memcpy(&v, p, Bytes);
  return swapped(v);
}
template <unsigned Bytes>
constexpr void store_be(u8* p, u64 value) {
  static_assert(std::has_single_bit(Bytes) && Bytes <= 8);
  if (std::is_constant_evaluated()) {
    for (unsigned i = 0; i < Bytes; ++i) p[i] = u8(value >> 8 * (Bytes - 1 - i));
    return;
  }
  const Unsigned<Bytes> v = swapped(Unsigned<Bytes>(value));
  std::memcpy(p, &v, Bytes);
}
static_assert(std::endian::native == std::endian::little);

// A number in the memory of a little-endian host.
inline u64 load_le8(const u8* p) {
  u64 v;
  std::memcpy(&v, p, 8);
  return v;
}
inline void store_le8(u8* p, u64 value) { std::memcpy(p, &value, 8); }

constexpr u64 low_mask(unsigned bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

// Any field by its position, up to 64 bits; for code that walks tables at run time.
constexpr u64 get_bits(const u8* p, unsigned at, unsigned bits) {
  u64 v = 0;
  for (unsigned b = at; b < at + bits; ++b) v = v << 1 | (p[b / 8] >> (7 - b % 8) & 1);
  return v;
}
constexpr void set_bits(u8* p, unsigned at, unsigned bits, u64 value) {
  for (unsigned i = 0; i < bits; ++i) {
    const unsigned b = at + bits - 1 - i;
    const u8 bit = u8(0x80u >> b % 8);
    p[b / 8] = u8((value >> i & 1) ? p[b / 8] | bit : p[b / 8] & ~bit);
  }
}

}  // namespace hca::proto

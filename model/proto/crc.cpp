// SPDX-License-Identifier: Apache-2.0
#include "model/proto/crc.h"

#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>

namespace hca::proto {

namespace {

// ISA-L's vector code returns with the upper halves of the vector registers in use. The next SSE
// instruction then costs some 170 ns; clearing them costs one.
#if defined(__x86_64__)
const bool kHasAvx = __builtin_cpu_supports("avx");
const bool kHasClmul = __builtin_cpu_supports("pclmul");
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }
__attribute__((target("pclmul"))) u64 carryless_product_fast(u32 a, u32 b) {
  return u64(_mm_cvtsi128_si64(
      _mm_clmulepi64_si128(_mm_cvtsi32_si128(int(a)), _mm_cvtsi32_si128(int(b)), 0)));
}
#else
constexpr bool kHasAvx = false, kHasClmul = false;
void clear_upper_halves() {}
u64 carryless_product_fast(u32, u32) { return 0; }
#endif

constexpr u64 carryless_product(u32 a, u32 b) {
  u64 product = 0;
  for (unsigned i = 0; i < 32; ++i) product ^= (a >> i & 1) ? u64{b} << i : 0;
  return product;
}

constexpr std::array kCrc32Rows{crc32_row(0), crc32_row(1), crc32_row(2), crc32_row(3)};

// The product of two reflected polynomials modulo the CRC's, from their carry-less product as
// numbers. Bit 63-k of `c` is the coefficient of x^k: the upper half is below x^32, the lower half
// is a register four zero bytes earlier.
constexpr u32 reduced(u64 product) {
  const u64 c = product << 1;
  const u32 high = u32(c);
  return u32(c >> 32) ^ kCrc32Rows[3][high & 0xFF] ^ kCrc32Rows[2][high >> 8 & 0xFF] ^
         kCrc32Rows[1][high >> 16 & 0xFF] ^ kCrc32Rows[0][high >> 24];
}

// x^(8n): what n zero bytes multiply a register with. A whole packet's payload in one step.
constexpr std::size_t kMostZeros = 4352;
constexpr auto kZeros = [] {
  std::array<u32, kMostZeros + 1> powers{};
  u32 reg = 0x80000000;  // 1
  for (u32& power : powers) {
    power = reg;
    reg = reg >> 8 ^ kCrc32Rows[0][reg & 0xFF];
  }
  return powers;
}();

// The portable product, which this processor may never use.
static_assert([] {
  u32 reg = 0x12345678;
  for (int i = 0; i < 100; ++i) reg = reg >> 8 ^ kCrc32Rows[0][reg & 0xFF];
  return reduced(carryless_product(0x12345678, kZeros[100])) == reg;
}());

constexpr u16 kVcrcPolynomial = 0xD008;  // x^16+x^12+x^3+x+1, reflected

// Slicing by 8: row k holds the CRC of a byte followed by k zero bytes.
constexpr auto make_vcrc_tables() {
  std::array<std::array<u16, 256>, 8> t{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    u16 crc = u16(byte);
    for (int bit = 0; bit < 8; ++bit) crc = u16(crc & 1 ? crc >> 1 ^ kVcrcPolynomial : crc >> 1);
    t[0][byte] = crc;
  }
  for (unsigned k = 1; k < 8; ++k)
    for (unsigned byte = 0; byte < 256; ++byte)
      t[k][byte] = u16(t[k - 1][byte] >> 8 ^ t[0][t[k - 1][byte] & 0xFF]);
  return t;
}
constexpr auto kVcrcTables = make_vcrc_tables();

}  // namespace

u32 crc32_after_zeros(u32 reg, std::size_t bytes) {
  const auto step = [](u32 value, std::size_t zeros) {
    return reduced(kHasClmul ? carryless_product_fast(value, kZeros[zeros])
                             : carryless_product(value, kZeros[zeros]));
  };
  for (; bytes > kMostZeros; bytes -= kMostZeros) reg = step(reg, kMostZeros);
  return step(reg, bytes);
}

u32 crc32(u32 crc, const u8* bytes, std::size_t size) {
  const u32 result = crc32_gzip_refl(crc, bytes, size);
  if (kHasAvx) clear_upper_halves();
  return result;
}

u16 crc16_vcrc(u16 crc, const u8* p, std::size_t size) {
  const auto& t = kVcrcTables;
  crc = u16(~crc);
  for (; size >= 8; size -= 8, p += 8)
    crc = u16(t[7][(p[0] ^ crc) & 0xFF] ^ t[6][(p[1] ^ crc >> 8) & 0xFF] ^ t[5][p[2]] ^ t[4][p[3]] ^
              t[3][p[4]] ^ t[2][p[5]] ^ t[1][p[6]] ^ t[0][p[7]]);
  for (; size > 0; --size, ++p) crc = u16(crc >> 8 ^ t[0][(crc ^ *p) & 0xFF]);
  return u16(~crc);
}

}  // namespace hca::proto

// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/crc.h"

#include <isa-l/crc.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <array>

#include "model/proto/wire/crc_register.h"

namespace hca::proto {

namespace {

// ISA-L's vector code returns with the upper halves of the vector registers in use. The next SSE
// instruction then costs some 170 ns; clearing them costs one.
#if defined(__x86_64__)
const bool kHasAvx = __builtin_cpu_supports("avx");
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }
#else
constexpr bool kHasAvx = false;
void clear_upper_halves() {}
#endif

// Slicing by 8: row k holds the CRC of a byte followed by k zero bytes.
constexpr auto make_vcrc_tables() {
  std::array<std::array<u16, 256>, 8> t{};
  for (unsigned byte = 0; byte < 256; ++byte) t[0][byte] = u16(kVcrcRegister.forward(byte, 8));
  for (unsigned k = 1; k < 8; ++k)
    for (unsigned byte = 0; byte < 256; ++byte)
      t[k][byte] = u16(t[k - 1][byte] >> 8 ^ t[0][t[k - 1][byte] & 0xFF]);
  return t;
}
constexpr auto kVcrcTables = make_vcrc_tables();

}  // namespace

[[gnu::hot]] u32 crc32(u32 crc, const u8* bytes, std::size_t size) {
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

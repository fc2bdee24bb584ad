// SPDX-License-Identifier: Apache-2.0
#include "model/proto/wire/ip_checksum.h"

#include <catch2/catch.hpp>

#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using test::hex;

namespace {
// 4500 + 0073 + 0000 + 4000 + 4011 + C0A8 + 0001 + C0A8 + 00C7 = 2479C; 479C + 2 = 479E; its
// complement is B861. With ECN 3 the first word is 4503, the sum 47A1, the checksum B85E.
const std::string kHeader = "4500 0073 0000 4000 4011 B861 C0A8 0001 C0A8 00C7";
}  // namespace

TEST_CASE("an IPv4 header is good when its words sum up to ones", "[proto][G34.3]") {
  std::vector<u8> header = hex(kHeader);
  CHECK(ipv4_checksum_good(header.data()));
  for (std::size_t bit = 0; bit < 8 * header.size(); ++bit) {
    header[bit / 8] ^= u8(0x80 >> bit % 8);
    CHECK_FALSE(ipv4_checksum_good(header.data()));
    header[bit / 8] ^= u8(0x80 >> bit % 8);
  }
}

TEST_CASE("a checksum follows a changed word", "[proto][G34.3]") {
  CHECK(checksum_after(0xB861, 0x4500, 0x4503) == 0xB85E);
  CHECK(checksum_after(0xB85E, 0x4503, 0x4500) == 0xB861);
  CHECK(checksum_after(0xB861, 0x4500, 0x4500) == 0xB861);
}

TEST_CASE("carries of a sum are added to its end", "[proto]") {
  CHECK(folded(u32{0x2479C}) == 0x479E);
  CHECK(folded(u32{0xFFFFFFFF}) == 0xFFFF);  // 1FFFE, then FFFF
  CHECK(folded(u64{0x1'0000'0000}) == 1);
  CHECK(folded(~u64{0}) == 0xFFFF);
  const std::vector<u8> odd = hex("0102 03");
  CHECK(sum_of_words(odd.data(), odd.size()) == 0x0402);
}

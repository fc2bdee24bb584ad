// SPDX-License-Identifier: Apache-2.0
#include <model/proto/wire/headers.h>

#include <array>

int main() {
  hca::proto::Aeth aeth{};
  aeth.syndrome = 0x1f;  // an ACK without credit count
  aeth.msn = 0x123456;
  std::array<hca::u8, hca::proto::bytes_of<hca::proto::Aeth>()> bytes{};
  hca::proto::encode(aeth, bytes.data());
  const std::array<hca::u8, 4> expected{0x1f, 0x12, 0x34, 0x56};
  return bytes == expected && hca::proto::decode<hca::proto::Aeth>(bytes.data()).msn == 0x123456
             ? 0
             : 1;
}

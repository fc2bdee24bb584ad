// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/twins/packetizer_unit.h"

#include <catch2/catch.hpp>
#include <vector>

namespace hca::blocks {
TEST_CASE("a payload of 3 bytes gets its headers, PadCnt and pad", "[packetizer_unit]") {
  proto::AddressVector address;
  address.framing = proto::Framing::IbLocal;
  address.destination_lid = 0x1234, address.source_lid = 0x5678;
  proto::Bth bth{};
  bth.pkey = 0xffff, bth.dest_qp = 0x22, bth.psn = 7;
  const proto::ExtHeaders ext{};
  const std::vector<u8> payload{0xa1, 0xa2, 0xa3};
  std::vector<u8> frame(64, 0xee);
  PacketizerItem item{&address,       proto::opcode_row(0x04), &bth,        &ext, 0,
                      payload.data(), u32(payload.size()),     frame.data()};
  item.process();
  // LRH of (8 + 12 + 4 + 4) / 4 = 7 words, LNH 2; BTH with PadCnt 1; the byte after it is not
  // touched.
  const std::vector<u8> want{0x00, 0x02, 0x12, 0x34, 0x00, 0x07, 0x56, 0x78, 0x04,
                             0x10, 0xff, 0xff, 0x00, 0x00, 0x00, 0x22, 0x00, 0x00,
                             0x00, 0x07, 0xa1, 0xa2, 0xa3, 0x00, 0xee};
  CHECK(item.bytes_out() == 24);
  frame.resize(25);
  CHECK(frame == want);
}

TEST_CASE("a packetizer unit that cannot be is refused with the knob's name", "[packetizer_unit]") {
  CHECK_THROWS_WITH(PacketizerUnit({.interval = 0}, {}),
                    Catch::Contains("packetizer.interval is 0"));
}
}  // namespace hca::blocks

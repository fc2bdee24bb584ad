// SPDX-License-Identifier: Apache-2.0
// Frames whose payload is cut.
#include "model/proto/wire/frame_view.h"

#include <catch2/catch.hpp>

#include "model/proto/wire/network_crcs.h"
#include "testbench/tests/proto/send_only.h"

namespace hca::test {
namespace {
constexpr u32 kPayload = 100, kHeld = 8;
}

TEST_CASE("a frame that is cut is parsed like the whole one", "[proto][packet]") {
  const FramingRow& row = GENERATE(from_range(kFramingRows));
  const std::vector<u8> whole = send_only(address(row.framing), kPayload);
  ParsedPacket expected, found;
  REQUIRE(parse(whole, row.link, expected) == PacketVerdict::Good);
  const std::vector<u8> held(whole.begin(), whole.begin() + expected.payload_offset + kHeld);
  const auto cut = [&](FrameCrcs crcs) { return FrameView::cut(held, u32(whole.size()), crcs); };
  REQUIRE(cut({}).is_cut());
  CHECK(cut({}).size() == whole.size());
  REQUIRE(parse(cut({}), row.link, found) == PacketVerdict::Good);
  CHECK(found.payload_bytes == kPayload);
  CHECK(found.payload_offset == expected.payload_offset);
  CHECK(found.icrc_offset == expected.icrc_offset);
  CHECK(found.bth.psn == expected.bth.psn);

  // Its CRCs are as it says, also when its headers are known.
  KnownNetwork known;
  NetworkCrcs crcs;
  for (int i = 0; i < 2; ++i) {
    CHECK(check_frame(cut({true, true}), row.link, known, crcs, found) == PacketVerdict::Good);
    CHECK(check_frame(cut({false, true}), row.link, known, crcs, found) == PacketVerdict::BadIcrc);
    CHECK(check_frame(cut({true, false}), row.link, known, crcs, found) ==
          (is_native(row.framing) ? PacketVerdict::BadVcrc : PacketVerdict::Good));
  }
  // What was learnt from it holds for a whole frame with the same headers.
  CHECK(known.frame_bytes == whole.size());
  CHECK(check_frame(whole, row.link, known, crcs, found) == PacketVerdict::Good);
}

TEST_CASE("a frame of all its bytes is not cut", "[proto][packet]") {
  const std::vector<u8> whole = send_only(Framing::RoceV2Ip4, kPayload);
  CHECK_FALSE(FrameView(whole).is_cut());
  CHECK_FALSE(FrameView::cut(whole, u32(whole.size()), {}).is_cut());
}
}  // namespace hca::test

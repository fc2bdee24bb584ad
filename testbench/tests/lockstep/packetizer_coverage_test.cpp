// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/packetizer/packetizer.sv try.
#include "testbench/lockstep/packetizer_coverage.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
using proto::Framing;

// A packet whose frame has so many bytes up to the ICRC.
PacketizerPacket packet(u8 opcode, Framing framing, u32 payload, u32 frame, Start start) {
  PacketizerPacket p;
  p.opcode = proto::opcode_row(opcode);
  p.descriptor.address.framing = framing;
  p.payload.resize(payload), p.bytes_out = frame, p.start = start;
  return p;
}
std::vector<u64> hits(const PacketizerCoverage& coverage) {
  std::vector<u64> hits;
  for (const BinCoverage::Group& group : coverage.groups()) hits.push_back(group.hit);
  return hits;
}
using Hits = std::vector<u64>;
}  // namespace

TEST_CASE("a packet of the packetizer is counted where it belongs and nowhere else",
          "[packetizer][coverage]") {
  PacketizerCoverage coverage(64);
  // 8 framings; 94 opcodes, 21 of them without a payload (T3); 7 payloads, 3 starts; 10 sums of
  // extension headers with 16 ends; 4 pads, of which the empty payload has 1 and the one up to 3
  // bytes has 3.
  REQUIRE(coverage.groups().size() == 5);
  CHECK(coverage.groups()[0].bins == 8 * (21 + 73 * 7));
  CHECK(coverage.groups()[1].bins == 8 * 7 * 3);
  CHECK(coverage.groups()[2].bins == 94 * 3);
  CHECK(coverage.groups()[3].bins == 8 * 10 * 16);
  CHECK(coverage.groups()[4].bins == 8 * (1 + 3 + 5 * 4));
  CHECK(hits(coverage) == Hits{0, 0, 0, 0, 0});

  // A SEND Only: 54 bytes of headers and 2 of payload, 58 with the pad.
  coverage.count(packet(0x04, Framing::RoceV2Ip4, 2, 54 + 4, Start::BackToBack));
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1});
  coverage.count(packet(0x04, Framing::RoceV2Ip4, 2, 54 + 4, Start::BackToBack));
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1});
  coverage.count(packet(0x04, Framing::RoceV2Ip4, 2, 54 + 4, Start::Held));
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 1});
  coverage.count(packet(0x04, Framing::RoceV2Ip4, 3, 54 + 4, Start::BackToBack));
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 2});
  coverage.count(packet(0x04, Framing::RoceV2Ip4, 4096, 54 + 4096, Start::AfterPause));
  CHECK(hits(coverage) == Hits{2, 3, 3, 2, 3});
  // An Acknowledge never has a payload: its end is not asked for.
  coverage.count(packet(0x11, Framing::IbLocal, 0, 24, Start::AfterPause));
  CHECK(hits(coverage) == Hits{3, 4, 4, 2, 4});
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/rx_parser/rx_parser.sv try.
#include "testbench/lockstep/rx_parser_coverage.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
using proto::PacketVerdict;

RxParserPacket frame(u32 bytes, PacketVerdict verdict, Start start) {
  RxParserPacket p;
  p.stream = {proto::Framing::RoceV2Ip4, false};
  p.frame.resize(bytes), p.start = start;
  p.parsed.verdict = verdict;
  p.parsed.packet.bth.opcode = 0x04;
  return p;
}
std::vector<u64> hits(const RxParserCoverage& coverage) {
  std::vector<u64> hits;
  for (const BinCoverage::Group& group : coverage.groups()) hits.push_back(group.hit);
  return hits;
}
using Hits = std::vector<u64>;
}  // namespace

TEST_CASE("a frame for the parser is counted where it belongs and nowhere else",
          "[rx_parser][coverage]") {
  RxParserCoverage coverage(64);
  // 8 framings, 94 opcodes, 73 of them with one of 5 payloads (T3); 6 payloads with 3 starts;
  // native frames are whole words and a VCRC.
  REQUIRE(coverage.groups().size() == 8);
  CHECK(coverage.groups()[0].bins == 8 * (21 + 73 * 5));
  CHECK(coverage.groups()[3].bins == 94 * 3);
  CHECK(coverage.groups()[4].bins == 8 * 6 * 3);
  CHECK(coverage.groups()[6].bins == 8 * 2);  // a reserved OpCode of RD, whole or cut
  CHECK(coverage.groups()[7].bins == 2 * 16 + 6 * 64);
  coverage.count(frame(128, PacketVerdict::Good, Start::BackToBack));
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1, 1, 0, 1});
  coverage.count(frame(128, PacketVerdict::Good, Start::Held));
  CHECK(hits(coverage) == Hits{1, 2, 1, 2, 2, 1, 0, 1});
  coverage.count(frame(129, PacketVerdict::Good, Start::Held));
  CHECK(hits(coverage) == Hits{1, 2, 1, 2, 2, 2, 0, 2});
  coverage.count(frame(129, PacketVerdict::Fragment, Start::AfterPause));
  CHECK(hits(coverage) == Hits{1, 3, 2, 3, 2, 3, 0, 2});
  // Eth 14, IPv4 20, UDP 8, BTH 12, RDETH 4, DETH 8, ICRC 4.
  for (const u32 bytes : {69u, 70u}) {
    RxParserPacket rd = frame(bytes, PacketVerdict::ReservedOpcode, Start::BackToBack);
    rd.parsed.headers = PacketVerdict::ReservedOpcode;
    rd.parsed.packet.bth.opcode = 0x58;
    rd.parsed.packet.transport_offset = 42;
    coverage.count(rd);
    CHECK(coverage.groups()[6].hit == bytes - 68);
  }
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/icrc/icrc.sv try.
#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/lockstep/icrc_coverage.h"

namespace hca::testbench {
namespace {
using blocks::IcrcMode;
using proto::Framing;

IcrcPacket packet(u32 sent, IcrcMode mode, Framing framing, std::optional<u32> payload,
                  bool icrc_ok = false, bool vcrc_ok = false) {
  IcrcPacket p;
  p.icrc_ok = icrc_ok, p.vcrc_ok = vcrc_ok;
  p.sent.resize(sent);
  p.mode = mode, p.framing = framing, p.payload = payload;
  return p;
}
bool tried(const IcrcCoverage& coverage, const std::string& name) {
  const std::vector<std::string> holes = coverage.holes();
  return std::find(holes.begin(), holes.end(), name) == holes.end();
}
// The hits of the first groups; crosses follow after them.
std::vector<u64> hits(const IcrcCoverage& coverage, u32 first = 0, u32 count = 3) {
  std::vector<u64> hits;
  for (u32 i = 0; i < count; ++i) hits.push_back(coverage.groups()[first + i].hit);
  return hits;
}
using Hits = std::vector<u64>;
}  // namespace

TEST_CASE("a packet is counted where it belongs and nowhere else", "[icrc][coverage]") {
  IcrcCoverage coverage(64);
  // 6 framings of Ethernet with 4 modes and verdicts, 2 native ones with 6: 36.
  REQUIRE(coverage.groups().size() == 7);
  CHECK(coverage.groups()[0].bins == 36 * 64);
  CHECK(coverage.groups()[1].bins == 36 * 4 * 7);
  CHECK(coverage.groups()[2].bins == 8 * 5);
  // 3 starts; 94 opcodes, 4 payloads; 6 modes and verdicts, whatever the framing.
  CHECK(coverage.groups()[3].bins == 36 * 3);
  CHECK(coverage.groups()[4].bins == 8 * 94 * 4);
  CHECK(coverage.groups()[5].bins == 94 * 6);
  CHECK(coverage.groups()[6].bins == 94 * 3);
  CHECK(coverage.holes().size() ==
        36 * 64 + 36 * 4 * 7 + 8 * 5 + 36 * 3 + 8 * 94 * 4 + 94 * 6 + 94 * 3);
  CHECK(hits(coverage) == Hits{0, 0, 0});

  // 54 of headers, 4 of ICRC, 66 of payload: 124, 60 in the second beat.
  coverage.count(packet(124, IcrcMode::Check, Framing::RoceV2Ip4, 66, true, false));
  CHECK(hits(coverage) == Hits{1, 1, 0});
  CHECK(tried(coverage, "RoCEv2 IPv4: check, good, 60 bytes"));
  CHECK(tried(coverage, "RoCEv2 IPv4: check, good, payload up to 256, room for CRCs, no more"));
  CHECK(hits(coverage, 3, 4) == Hits{1, 1, 1, 1});
  for (const char* name :
       {"RoCEv2 IPv4, check, good, back to back", "RoCEv2 IPv4, SEND First 0x00, payload up to 256",
        "SEND First 0x00, check, good", "SEND First 0x00, back to back"})
    CHECK(tried(coverage, name));
  coverage.count(packet(124, IcrcMode::Check, Framing::RoceV2Ip4, 66, true, false));
  CHECK(hits(coverage) == Hits{1, 1, 0});

  // LRH, BTH, ICRC and VCRC: 8 + 12 + 6, the least.
  coverage.count(packet(26, IcrcMode::Check, Framing::IbLocal, 0, true, true));
  CHECK(hits(coverage) == Hits{2, 2, 1});
  CHECK(tried(coverage, "IB local: the shortest good one"));
  CHECK(tried(coverage, "IB local: check, good, payload up to 64, room for CRCs and more"));
  coverage.count(packet(128, IcrcMode::Check, Framing::IbLocal, 102, true, false));
  CHECK(tried(coverage, "IB local: check, VCRC bad, payload up to 256, full"));
  coverage.count(packet(129, IcrcMode::Check, Framing::IbLocal, 103, false, true));
  CHECK(tried(coverage, "IB local: check, ICRC bad, payload up to 256, 1 byte"));
  coverage.count(packet(133, IcrcMode::Check, Framing::IbLocal, 107, false, false));
  CHECK(tried(coverage, "IB local: check, both bad, payload up to 256, fewer bytes than CRCs"));
  coverage.count(packet(70, IcrcMode::Check, Framing::IbLocal, 44, false, false));
  CHECK(tried(coverage, "IB local: check, both bad, payload up to 64, as many bytes as CRCs"));
  CHECK(hits(coverage) == Hits{6, 6, 1});
  coverage.count(packet(20, IcrcMode::Generate, Framing::IbLocal, 0, false, false));
  CHECK(tried(coverage, "IB local: the shortest that gets CRCs"));
  CHECK(hits(coverage) == Hits{7, 7, 2});

  // Too short: no headers, so no payload and no verdict to speak of.
  IcrcPacket runt = packet(25, IcrcMode::Check, Framing::IbLocal, {});
  coverage.count(runt);
  CHECK(tried(coverage, "IB local: too short, CRCs wrong"));
  CHECK_FALSE(tried(coverage, "IB local: too short, CRCs right"));
  runt.sealed = true;
  coverage.count(runt);
  CHECK(tried(coverage, "IB local: too short, CRCs right"));
  CHECK(hits(coverage) == Hits{7, 7, 4});
  runt.sent.resize(26);
  coverage.count(runt);
  CHECK(tried(coverage, "IB local: right CRCs and more bytes behind"));
  CHECK(hits(coverage) == Hits{7, 7, 5});
}
}  // namespace hca::testbench

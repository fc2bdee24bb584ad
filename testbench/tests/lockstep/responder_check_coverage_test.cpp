// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/responder_check/responder_check.sv try.
#include "testbench/lockstep/responder_check_coverage.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
using namespace proto;

// A RC SEND Only of 8 bytes on ePSN 5.
ResponderCheckPacket request(std::string_view statement, RequestAction action) {
  ResponderCheckPacket p;
  p.parsed.bth.opcode = 0x04, p.parsed.bth.psn = 5;
  p.parsed.opcode = opcode_row(0x04);
  p.parsed.framing = Framing::RoceV2Ip4, p.parsed.payload_bytes = 8;
  p.before.epsn = 5;
  p.checked.verdict.statement = statement, p.checked.verdict.action = action;
  return p;
}
std::vector<u64> hits(const ResponderCheckCoverage& coverage) {
  std::vector<u64> hits;
  for (const BinCoverage::Group& group : coverage.groups()) hits.push_back(group.hit);
  return hits;
}
using Hits = std::vector<u64>;
}  // namespace

TEST_CASE("a judged request is counted where it belongs and nowhere else",
          "[responder_check][coverage]") {
  ResponderCheckCoverage coverage;
  // 5 framings, 19 causes and good, two of them in native framings alone, 3 starts; opcodes of
  // requests to queue pairs of RC, UC, UD and XRC, reserved ones, others; 3 services, 7 PSNs, 3
  // ePSNs; 9 actions, 6 distances; 32 ACKs, 32 RNR NAKs, 5 NAKs; 4 payloads.
  REQUIRE(coverage.groups().size() == 10);
  CHECK(coverage.groups()[2].bins == (18 * 5 + 2 * 2) * 3 + 9);
  CHECK(coverage.groups()[4].bins == (37 + 20) * 3);
  CHECK(coverage.groups()[5].bins == 3 * 7 * 3);
  CHECK(coverage.groups()[6].bins == 9 * 6);
  CHECK(coverage.groups()[8].bins == 32 + 32 + 5);
  CHECK(coverage.groups()[9].bins == 4 * 3);
  ResponderCheckPacket p = request({}, RequestAction::Execute);
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1, 1, 0, 0, 1, 1});
  p.context_late = 3, p.distance = 1, p.start = Start::Held;
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 2, 1, 1, 0, 1, 2});
  p.distance = 2, p.shared_distance = 9, p.checked.syndrome = 31;
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 2, 1, 2, 1, 2, 2});
  p.distance = 0, p.shared_distance = 0, p.parsed.bth.psn = 4;
  p.checked.verdict = {RequestAction::Acknowledge, RequestCause::Duplicate, {}, "G3.1"};
  coverage.count(p);
  CHECK(hits(coverage) == Hits{2, 3, 3, 1, 2, 2, 2, 1, 2, 2});
}
}  // namespace hca::testbench

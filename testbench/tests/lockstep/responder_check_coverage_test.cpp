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
  // 5 framings, 21 causes and good, two of them in native framings alone, 3 starts; opcodes of
  // requests, 19 of them of RD, and reserved ones; 4 services, 7 PSNs, 3 ePSNs; 10 actions, 6
  // distances; messages of RD ended by a NAK and a RESYNC, 4 fates of their WQEs; 3 queue pairs
  // that are none; 32 ACKs, 32 RNR NAKs, 5 NAKs; 4 payloads.
  REQUIRE(coverage.groups().size() == 13);
  CHECK(coverage.groups()[2].bins == (20 * 5 + 2 * 2) * 3 + 9);
  CHECK(coverage.groups()[4].bins == (56 + 19) * 3);
  CHECK(coverage.groups()[5].bins == 4 * 7 * 3);
  CHECK(coverage.groups()[6].bins == 10 * 6);
  CHECK(coverage.groups()[11].bins == 32 + 32 + 5);
  CHECK(coverage.groups()[9].bins == 2 * 4);
  CHECK(coverage.groups()[10].bins == 3);
  CHECK(coverage.groups()[12].bins == 4 * 3);
  ResponderCheckPacket p = request({}, RequestAction::Execute);
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1});
  p.context_late = 3, p.distance = 1, p.start = Start::Held;
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 2, 1, 1, 0, 0, 0, 0, 1, 2});
  p.distance = 2, p.shared_distance = 9, p.checked.syndrome = 31;
  coverage.count(p);
  CHECK(hits(coverage) == Hits{1, 2, 2, 1, 2, 1, 2, 1, 0, 0, 0, 2, 2});
  p.distance = 0, p.shared_distance = 0, p.parsed.bth.psn = 4;
  p.checked.verdict = {RequestAction::Acknowledge, RequestCause::Duplicate, {}, "G3.1"};
  coverage.count(p);
  CHECK(hits(coverage) == Hits{2, 3, 3, 1, 2, 2, 2, 1, 0, 0, 0, 2, 2});
}

TEST_CASE("a request to an EE context is counted by what becomes of the message that it ends",
          "[responder_check][coverage][T11][RSY-2]") {
  ResponderCheckCoverage coverage;
  ResponderCheckPacket p = request({}, RequestAction::Execute);
  p.qp.service = Service::Rd, p.qp.side = QpSide::EeContext;
  p.parsed.bth.opcode = 0x55;  // RESYNC
  p.parsed.opcode = opcode_row(0x55);
  const auto rd = [&] {
    const auto groups = coverage.groups();
    return Hits{groups[8].hit, groups[9].hit, groups[10].hit};
  };
  coverage.count(p);
  CHECK(rd() == Hits{0, 1, 0});
  p.before.message = InMessage::Send, p.rd_distance = 1;
  p.qp.options.rd_abort = RdAbort::Keep;
  coverage.count(p);
  CHECK(rd() == Hits{1, 2, 0});
  p.checked.keeps_wqe = true;
  coverage.count(p);
  CHECK(rd() == Hits{1, 3, 0});
  p.qp.options.rd_abort = RdAbort::Complete;
  coverage.count(p);
  CHECK(rd() == Hits{1, 4, 0});
  p.checked.verdict = {RequestAction::Nak, RequestCause::NoRdQueue, {}, "T10-14/RD"};
  coverage.count(p);
  CHECK(rd() == Hits{1, 4, 1});
}
}  // namespace hca::testbench

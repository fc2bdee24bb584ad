// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/requester_psn/requester_psn.sv try.
#include "testbench/lockstep/requester_psn_coverage.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
using Hits = std::vector<u64>;
Hits hits(const RequesterPsnCoverage& coverage) {
  Hits hits;
  for (const BinCoverage::Group& group : coverage.groups()) hits.push_back(group.hit);
  return hits;
}
}  // namespace

TEST_CASE("a step of PSNs is counted where it belongs and nowhere else",
          "[requester_psn][coverage]") {
  using blocks::PsnStep;
  RequesterPsnCoverage coverage;
  // 7 steps that are done, a message that waits, 2 ghosts and the newest PSN; 7 lengths, 5 path
  // MTUs, 3 kinds; 4 windows, for an ATOMIC 3; 4 ways to send; 2 answers, 7 PSNs; 3 answers, of
  // which the timer overtakes nothing; 5 distances, and no packet after a start; queue pairs and EE contexts,
  // which alone have a RESYNC, in place of 4 things; 3 starts.
  const std::vector<BinCoverage::Group> groups = coverage.groups();
  REQUIRE(groups.size() == 10);
  CHECK(groups[0].bins == 7 + 1 + 2 + 1);
  CHECK(groups[1].bins == 7 * 5 * 3);
  CHECK(groups[2].bins == 4 * 2 + 3);
  CHECK(groups[3].bins == 4 * 3);
  CHECK(groups[4].bins == 2 * 7 * 2);
  CHECK(groups[5].bins == 3 * 3 - 1);
  CHECK(groups[6].bins == (7 * 7 - 1) * 5);
  CHECK(groups[7].bins == 7 * 2 - 1);
  CHECK(groups[8].bins == 4);
  CHECK(groups[9].bins == 7 * 2 * 3);
  RequesterPsnPacket p;
  p.of = std::make_shared<PsnQp>();
  p.config.path_mtu = 256;
  const auto step = [&](blocks::PsnRequest request) {
    p.request = request;
    proto::SendPsns s = p.before;
    p.answer = step_psns(s, request, 256);
    coverage.count(p);
    p.before = s;
  };
  step({.step = PsnStep::Message, .byte_len = 700});
  CHECK(hits(coverage) == Hits{1, 1, 1, 0, 0, 0, 0, 1, 0, 1});
  p.distance = 1, p.step_before = PsnStep::Message, p.start = Start::Held;
  step({.step = PsnStep::Packet, .byte_len = 700});
  CHECK(hits(coverage) == Hits{2, 1, 1, 1, 0, 0, 1, 2, 0, 2});
  p.distance = 41, p.context_late = 1;
  step({.step = PsnStep::Acknowledge, .psn = 0xffffff});
  CHECK(hits(coverage) == Hits{3, 1, 1, 1, 1, 0, 1, 3, 0, 3});
  step({.step = PsnStep::Timeout});
  CHECK(hits(coverage) == Hits{4, 1, 1, 1, 1, 1, 1, 4, 0, 4});
  step({.step = PsnStep::Acknowledge, .psn = 0});
  CHECK(hits(coverage) == Hits{5, 1, 1, 1, 2, 2, 1, 4, 0, 4});
  p.of->qpn = device::ee_number(0);
  step({.step = PsnStep::Resync});  // two PSNs are not sent yet
  CHECK(hits(coverage) == Hits{6, 1, 1, 1, 2, 2, 1, 5, 1, 5});
}
}  // namespace hca::testbench

// SPDX-License-Identifier: Apache-2.0
// The count of what the stimuli of rtl/completion/completion.sv try.
#include "testbench/lockstep/completion_coverage.h"

#include <catch2/catch.hpp>

namespace hca::testbench {
namespace {
using Hits = std::vector<u64>;
Hits hits(const CompletionCoverage& coverage) {
  Hits hits;
  for (const BinCoverage::Group& group : coverage.groups()) hits.push_back(group.hit);
  return hits;
}
}  // namespace

TEST_CASE("a step of a CQ is counted where it belongs and nowhere else", "[completion][coverage]") {
  using blocks::CqStep;
  CompletionCoverage coverage;
  // 4 results of a CQE and 2 of a doorbell; 5 sizes with 3 entries, but one entry has no other and
  // two none between, 2 phases; 5 rooms, of one entry without "left" and "the last", of two without
  // "left"; 10 opcodes and others, 4; 19 statuses; 3 ways of indices, 1 of them only written; 5
  // consumers, 4 CQs, 2 of an empty one are others; 3 starts.
  const std::vector<BinCoverage::Group> groups = coverage.groups();
  REQUIRE(groups.size() == 9);
  CHECK(groups[0].bins == 4 + 2);
  CHECK(groups[1].bins == (1 + 2 + 3 * 3) * 2);
  CHECK(groups[2].bins == 5 * 5 - 2 - 1);
  CHECK(groups[3].bins == 11 * 4);
  CHECK(groups[4].bins == 19);
  CHECK(groups[5].bins == 3 + 2 + 2);
  CHECK(groups[6].bins == 5 * 4 - 2);
  // After a CQE that is written: another one, the first lost one or a doorbell. After a lost one:
  // another or a doorbell; the same after the first. After a doorbell all four; without a CQ 2 x 2.
  CHECK(groups[7].bins == (3 + 2 + 2 + 4 + 4) * 5);
  CHECK(groups[8].bins == 6 * 2 * 3);
  CompletionPacket p;
  p.before.allocated = true, p.before.log_entries = 1;
  const auto step = [&](CqStep kind, u32 consumer = 0) {
    p.request.step = kind, p.request.consumer = consumer;
    proto::EntryRing cq = p.before;
    p.answer = step_cq(cq, p.request);
    coverage.count(p);
    p.before = cq;
    p.outcome_before = outcome_of(kind, p.answer.place.result);
  };
  step(CqStep::Complete);
  CHECK(hits(coverage) == Hits{1, 1, 1, 1, 1, 1, 0, 0, 1});
  p.distance = 1, p.start = Start::Held, p.request.cqe.solicited = true;
  step(CqStep::Complete);
  CHECK(hits(coverage) == Hits{1, 2, 2, 2, 1, 1, 0, 1, 2});
  p.distance = 41, p.context_late = 1;
  step(CqStep::Complete);
  CHECK(hits(coverage) == Hits{2, 2, 3, 2, 1, 2, 0, 1, 3});
  p.distance = 3;
  step(CqStep::Doorbell, 2);
  CHECK(hits(coverage) == Hits{3, 2, 3, 2, 1, 2, 1, 2, 4});
  p.before.producer = p.before.consumer - 1;
  step(CqStep::Complete);  // lost, whatever room there is
  CHECK(hits(coverage) == Hits{4, 2, 3, 2, 1, 3, 1, 3, 5});
  p.before.allocated = false;
  step(CqStep::Complete);
  CHECK(hits(coverage) == Hits{5, 2, 3, 2, 1, 3, 1, 3, 6});
}
}  // namespace hca::testbench

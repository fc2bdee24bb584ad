// SPDX-License-Identifier: Apache-2.0
// What the stimuli of the blocks try: nothing is left out, and a short run says what it leaves out.
#include <catch2/catch.hpp>

#include "testbench/lockstep/completion_lockstep.h"
#include "testbench/lockstep/icrc_lockstep.h"
#include "testbench/lockstep/packetizer_lockstep.h"
#include "testbench/lockstep/requester_psn_lockstep.h"
#include "testbench/lockstep/responder_check_lockstep.h"
#include "testbench/lockstep/rx_parser_lockstep.h"

namespace hca::testbench {
namespace {
// Cycles in which all bins are hit.
template <class Pair>
constexpr engine::Cycle kCyclesForAll = 4'000'000;
template <>
constexpr engine::Cycle kCyclesForAll<PacketizerLockstep> = 2'000'000;
template <>
constexpr engine::Cycle kCyclesForAll<RxParserLockstep> = 3'000'000;
template <>
constexpr engine::Cycle kCyclesForAll<ResponderCheckLockstep> = 16'000'000;
template <>
constexpr engine::Cycle kCyclesForAll<RequesterPsnLockstep> = 1'000'000;
template <>
constexpr engine::Cycle kCyclesForAll<CompletionLockstep> = 1'000'000;

template <class Pair>
void check_no_holes(u32 beat_bytes) {
  LockstepOptions<Pair> options;
  options.twin.beat_bytes = beat_bytes;
  options.cycles = kCyclesForAll<Pair>;
  const auto r = run_lockstep(options);
  CHECK(r.equal());
  INFO(r.coverage.text());
  CHECK(r.coverage.holes().empty());
}
}  // namespace

TEMPLATE_TEST_CASE("the stimuli leave no bin out at 512 bits", "[coverage]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep, RequesterPsnLockstep, CompletionLockstep) {
  check_no_holes<TestType>(64);
}
TEST_CASE("the stimuli of responder_check leave no bin out at 512 bits", "[coverage][slow]") {
  check_no_holes<ResponderCheckLockstep>(64);
}
TEMPLATE_TEST_CASE("the stimuli leave no bin out at 256 bits", "[coverage]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep) {
  check_no_holes<TestType>(32);
}
// Their items have one beat, whatever its width.
TEMPLATE_TEST_CASE("the stimuli of blocks without data leave no bin out at 256 bits",
                   "[coverage][slow]", ResponderCheckLockstep, RequesterPsnLockstep,
                   CompletionLockstep) {
  check_no_holes<TestType>(32);
}

TEMPLATE_TEST_CASE("a short run says what it has not tried", "[coverage]", IcrcLockstep,
                   PacketizerLockstep, RxParserLockstep, ResponderCheckLockstep,
                   RequesterPsnLockstep, CompletionLockstep) {
  LockstepOptions<TestType> options;
  options.cycles = 1000;
  const auto r = run_lockstep(options);
  const std::string text = r.coverage.text();
  INFO(text);
  for (const BinCoverage::Group& group : r.coverage.groups())
    CHECK(text.find(fmt::format("{} of {} bins, {}\n", group.hit, group.bins, group.crosses)) !=
          std::string::npos);
  CHECK(text.find("    not tried: " + r.coverage.holes().front() + "\n") != std::string::npos);
  CHECK(text.find(" more\n") != std::string::npos);
}
}  // namespace hca::testbench

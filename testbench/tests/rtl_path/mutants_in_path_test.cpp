// SPDX-License-Identifier: Apache-2.0
// The path runs on the RTL: with a mistake in it, the run is another one.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "testbench/lockstep/item_pins.h"
#include "testbench/lockstep/rtl_stand_in.h"
#include "testbench/tests/blocks/pair.h"
#include "testbench/tests/lockstep/mutants/mutant_rtl.h"

namespace hca::testbench {
namespace {
using namespace hca::test;

// Each block, its place in both chips, the latency of its unit, and mistakes that packets meet
// which go through alone.
template <class Lockstep, class ItemPins, auto Place, engine::Cycle kLatency>
struct InPath {
  using Block = Lockstep;
  using Pins = ItemPins;
  static constexpr engine::Cycle latency = kLatency;
  static void put(StandIns& at, blocks::StandIn<typename Pins::Item>* who) {
    if constexpr (requires { at.*Place; })
      at.*Place = who;
    else
      for (PortStandIns& port : at.port) port.*Place = who;
  }
};
struct IcrcOut : InPath<IcrcLockstep, IcrcPins, &PortStandIns::icrc_out, 5> {
  static constexpr std::array mistakes{"the ICRC is not complemented", "CRCs in every beat"};
};
struct IcrcIn : InPath<IcrcLockstep, IcrcPins, &PortStandIns::icrc_in, 5> {
  static constexpr std::array mistakes{"one zero too few is taken back",
                                       "a packet is too short if its last beat is"};
};
struct PacketizerRtl : InPath<PacketizerLockstep, PacketizerPins, &PortStandIns::packetizer, 4> {
  static constexpr std::array mistakes{"the extension headers are not counted",
                                       "the last beat is always full"};
};
struct RxParserRtl : InPath<RxParserLockstep, RxParserPins, &PortStandIns::rx_parser, 6> {
  static constexpr std::array mistakes{"the pad is not taken off",
                                       "start comes with the last beat"};
};
struct ResponderCheckRtl
    : InPath<ResponderCheckLockstep, ResponderCheckPins, &PortStandIns::responder_check, 8> {
  static constexpr std::array mistakes{"a READ takes one PSN",
                                       "lost stall: nobody waits for the region"};
};
struct RequesterPsnRtl
    : InPath<RequesterPsnLockstep, RequesterPsnPins, &StandIns::requester_psn, 4> {
  static constexpr std::array mistakes{"a message takes one PSN", "an ACK leaves its own PSN",
                                       "a start leaves what is sent"};
};
struct CompletionRtl : InPath<CompletionLockstep, CompletionPins, &StandIns::completion, 4> {
  static constexpr std::array mistakes{"the first entry is the second", "the producer stays",
                                       "a doorbell is not rung"};
};

// What came of a run; a message where it ended early. The queue pairs start in it, and a CQ has
// fewer entries than it gets CQEs.
template <class P>
std::string outcome(u32 mutant) {
  PairConfig config;
  config.path_mtu = 512, config.qps = 3, config.timeout = 2, config.log_cqes = 5;
  RtlStandIn<typename P::Pins> a(Mutants<typename P::Block>::make(64, mutant, true), P::latency);
  RtlStandIn<typename P::Pins> b(Mutants<typename P::Block>::make(64, mutant, true), P::latency);
  test::Pair pair(config);
  StandIns of_a, of_b;
  P::put(of_a, &a), P::put(of_b, &b);
  pair.a.chip.replace(of_a), pair.b.chip.replace(of_b);
  try {
    start_by_command(pair);
    plan_all_operations(pair, config.qps);
    const bool finished = pair.run(0, 300'000);
    return fmt::format("{} {:016x}", finished, pair.digest());
  } catch (const std::exception& error) {
    return error.what();
  }
}
}  // namespace

TEMPLATE_TEST_CASE("a mistake in the RTL of the path changes the run", "[rtl][mutants]", IcrcOut,
                   IcrcIn, PacketizerRtl, RxParserRtl, ResponderCheckRtl, RequesterPsnRtl,
                   CompletionRtl) {
  const std::string good = outcome<TestType>(0);
  CHECK(good.starts_with("true "));
  const auto names = Mutants<typename TestType::Block>::names();
  for (const std::string_view mistake : TestType::mistakes) {
    INFO(mistake);
    const auto at = std::find(names.begin(), names.end(), mistake);
    REQUIRE(at != names.end());
    CHECK(outcome<TestType>(u32(at - names.begin()) + 1) != good);
  }
}

TEST_CASE("RTL of another latency than its unit's is told", "[rtl]") {
  RtlStandIn<IcrcPins> icrc(rtl::IcrcRtl(64), 6);
  std::vector<u8> frame(200);
  IcrcItem item{.frame = frame.data(), .bytes = 100, .mode = IcrcMode::Generate};
  CHECK_THROWS_WITH(icrc.process(item),
                    Catch::Matchers::Contains("rtl/icrc.sv in the path: the first beat left 5 "
                                              "cycles behind the first one, by its contract 6"));
}
}  // namespace hca::testbench

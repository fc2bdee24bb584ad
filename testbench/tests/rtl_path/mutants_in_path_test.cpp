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

namespace {
// rtl/icrc/icrc.sv whose clock is counted.
class CountedIcrc : public rtl::VerilatedBlock<rtl::BeatControl, rtl::BeatControl> {
 public:
  explicit CountedIcrc(u64& clocks) : clocks_(clocks) {}
  void set_reset(bool active) override { icrc_.set_reset(active); }
  void set_grant(bool packets_out_ready) override { icrc_.begin_cycle(packets_out_ready); }
  void set_beat(const rtl::BeatOf<rtl::BeatControl>* in) override { icrc_.drive(in); }
  bool in_ready() override { return icrc_.in_ready(); }
  bool out_start() override { return icrc_.out_start(); }
  bool out_valid() const override { return icrc_.out_valid(); }
  rtl::BeatOf<rtl::BeatControl> out() const override { return icrc_.out(); }
  void clock() override { ++clocks_, icrc_.end_cycle(); }
  bool assertion_failed() const override { return icrc_.assertion_failed(); }
  void trace_to(const std::string&) override {}
  void trace_end() override {}
  rtl::PinsOf<rtl::BeatControl>* look_ups() override { return nullptr; }

 protected:
  u64& clocks_;
  rtl::IcrcRtl icrc_{64};
};
// Behind a first beat it takes none before it is empty.
struct SlowIcrc : CountedIcrc {
  using CountedIcrc::CountedIcrc;
  bool in_ready() override { return icrc_.in_ready() && (clocks_ == 0 || clocks_ > 6); }
};
// The second beat that leaves is missing.
struct PausingIcrc : CountedIcrc {
  using CountedIcrc::CountedIcrc;
  bool out_valid() const override { return icrc_.out_valid() && clocks_ != 6; }
};
template <class Icrc>
struct IcrcOf : rtl::IcrcBlock {
  explicit IcrcOf(u64& clocks) : BlockRtl(64, std::make_unique<Icrc>(clocks)) {}
};
}  // namespace

// One item of 100 bytes: 2 beats in, the first one out 5 cycles after the first one in.
TEST_CASE("RTL in the path is not clocked while it has nothing to do", "[rtl]") {
  u64 clocks = 0;
  RtlStandIn<IcrcPins> icrc(IcrcOf<CountedIcrc>(clocks), 5);
  std::vector<u8> frame(200);
  IcrcItem item{.frame = frame.data(), .bytes = 100, .mode = IcrcMode::Generate};
  icrc.process(item);
  CHECK(clocks == 5 + 2);

  clocks = 0;
  PairConfig config;
  test::Pair pair(config);
  StandIns places;
  IcrcOut::put(places, &icrc);
  pair.a.chip.replace(places);
  plan_all_operations(pair, config.qps);
  REQUIRE(pair.run(0, 300'000));
  const u64 until_the_end = clocks;
  CHECK(until_the_end > 0);
  pair.advance(100'000);
  CHECK(clocks == until_the_end);
}

TEST_CASE("RTL of another latency than its unit's is told", "[rtl]") {
  RtlStandIn<IcrcPins> icrc(rtl::IcrcRtl(64), 6);
  std::vector<u8> frame(200);
  IcrcItem item{.frame = frame.data(), .bytes = 100, .mode = IcrcMode::Generate};
  CHECK_THROWS_WITH(icrc.process(item),
                    Catch::Matchers::Contains("rtl/icrc/icrc.sv in the path: the first beat left 5 "
                                              "cycles behind the first one, by its contract 6"));
}

// 2 beats in, 2 out: the next item may begin 2 cycles after this one.
TEST_CASE("RTL that keeps the next item waiting, or pauses in an item, is told", "[rtl]") {
  std::vector<u8> frame(200);
  IcrcItem item{.frame = frame.data(), .bytes = 100, .mode = IcrcMode::Generate};
  u64 clocks = 0;
  RtlStandIn<IcrcPins> slow(IcrcOf<SlowIcrc>(clocks), 5);
  CHECK_THROWS_WITH(slow.process(item),
                    Catch::Matchers::Contains("no item is taken 6 cycles behind the first beat, by "
                                              "its contract 2"));
  clocks = 0;
  RtlStandIn<IcrcPins> pausing(IcrcOf<PausingIcrc>(clocks), 5);
  CHECK_THROWS_WITH(pausing.process(item),
                    Catch::Matchers::Contains("no beat leaves in the midst of an item, 6 cycles"));
}
}  // namespace hca::testbench

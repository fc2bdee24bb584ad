// SPDX-License-Identifier: Apache-2.0
// What a module may do on its pins beside wrong packets is noticed too.
#include <catch2/catch.hpp>
#include <functional>

#include "testbench/lockstep/elastic.h"
#include "testbench/lockstep/icrc_lockstep.h"

namespace hca::testbench {
namespace {
// rtl/icrc/icrc.sv with a mistake between its pins and the comparison.
enum class Odd { Nothing, ReadyFallsWithValid, ValidInReset, SpareBits, Finish };
class OddIcrc : public rtl::VerilatedBlock<rtl::BeatControl, rtl::BeatControl> {
 public:
  explicit OddIcrc(Odd odd) : odd_(odd) {}
  void set_reset(bool active) override { icrc_.set_reset(active), in_reset_ = active; }
  void set_grant(bool packets_out_ready) override {
    icrc_.begin_cycle(packets_out_ready), in_valid_ = false;
  }
  void set_beat(const rtl::Beat* in) override { icrc_.drive(in), in_valid_ = in; }
  bool in_ready() override {
    return icrc_.in_ready() && !(odd_ == Odd::ReadyFallsWithValid && in_valid_ && clocks_ > 1000);
  }
  bool out_start() override { return icrc_.out_start(); }
  bool out_valid() const override {
    return icrc_.out_valid() || (odd_ == Odd::ValidInReset && in_reset_);
  }
  rtl::Beat out() const override { return icrc_.out(); }
  bool out_has_spare_bits() const override { return odd_ == Odd::SpareBits && clocks_ > 1000; }
  void clock() override { ++clocks_, icrc_.end_cycle(); }
  bool assertion_failed() const override { return icrc_.assertion_failed(); }
  bool has_ended() const override { return odd_ == Odd::Finish && clocks_ == 1000; }
  void trace_to(const std::string&) override {}
  void trace_end() override {}
  rtl::NoPins* look_ups() override { return nullptr; }

 private:
  Odd odd_;
  bool in_reset_ = false, in_valid_ = false;
  u64 clocks_ = 0;
  rtl::IcrcRtl icrc_{rtl::kMaxBeatBytes};
};
struct OddRtl : rtl::IcrcBlock {
  explicit OddRtl(Odd odd) : BlockRtl(rtl::kMaxBeatBytes, std::make_unique<OddIcrc>(odd)) {}
};
LockstepResult<IcrcLockstep> run(Odd odd) {
  LockstepOptions<IcrcLockstep> options;
  options.cycles = 20'000;
  options.rtl = [odd] { return OddRtl(odd); };
  return run_lockstep(options);
}
}  // namespace

TEST_CASE("ready that falls with valid is told where a packet starts", "[lockstep]") {
  CHECK(run(Odd::Nothing).equal());
  const auto r = run(Odd::ReadyFallsWithValid);
  REQUIRE(r.divergence);
  CHECK(r.divergence->cycle > 1000);
  CHECK(r.divergence->line().ends_with("packets_in.ready: model 1, RTL 0"));
}

TEST_CASE("nothing leaves in a reset", "[lockstep]") {
  const auto r = run(Odd::ValidInReset);
  REQUIRE(r.divergence);
  CHECK(r.divergence->line().ends_with("packets_out.valid: model 0, RTL 1"));
  CHECK(r.divergence->text().find("in reset") != std::string::npos);
}

TEST_CASE("bits beside the fields of a side band are 0", "[lockstep]") {
  const auto r = run(Odd::SpareBits);
  REQUIRE(r.divergence);
  CHECK(r.divergence->cycle > 1000);
  CHECK(r.divergence->where() == "packets_out.bits of no field");
}

TEST_CASE("RTL that ends the simulation is not equal", "[lockstep]") {
  const auto r = run(Odd::Finish);
  CHECK(r.ended);
  CHECK_FALSE(r.equal());
  CHECK(r.cycles == 1000);
}

TEST_CASE("a difference tells how long ago the last reset was", "[lockstep]") {
  LockstepOptions<IcrcLockstep> options;
  options.fault = {PinFault::Kind::BeatLost, 3000};
  const auto r = run_lockstep(options);
  REQUIRE(r.divergence);
  REQUIRE(r.resets > 0);
  CHECK(r.divergence->behind_reset > 0);
  CHECK(r.divergence->behind_reset < r.divergence->cycle);
  CHECK(r.divergence->text().find(fmt::format("  cycle {} behind the last reset\n",
                                              r.divergence->behind_reset)) != std::string::npos);
}

TEST_CASE("resets come mostly soon, and each 256th late", "[lockstep]") {
  Lives lives(4000);
  engine::Random random(1);
  u32 soon = 0, late = 0;
  for (u32 i = 1; i <= 512; ++i) {
    const engine::Cycle life = lives.next(random);
    if (i % 256 == 0) {
      CHECK(life == 256'000);
      continue;
    }
    CHECK(life <= 8000);
    soon += life <= 251, late += life > 251;
  }
  CHECK(soon > 400);  // seven of eight and some more: 7/8 of 510 are 446
  CHECK(late > 30);
  CHECK(Lives(0).next(random) == engine::kNever);
}
}  // namespace hca::testbench

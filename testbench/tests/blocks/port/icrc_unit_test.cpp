// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/port/icrc_unit.h"

#include <catch2/catch.hpp>
#include <vector>

namespace hca::blocks {
namespace {
using engine::Cycle;
using engine::Domain;
using engine::Waker;

// Packets of one size, on offer without a gap; a receiver that takes each as soon as it sees it.
class UnitBench {
 public:
  UnitBench(const IcrcUnitConfig& config, u32 bytes, IcrcMode mode, u32 rooms)
      : out_(rooms, 1), unit_(config, {&in_, &out_}) {
    frame_.assign(bytes + 4, 0x5a);
    item_ = {frame_.data(), bytes, mode, proto::Framing::RoceV2Ip4, false, false, false};
    source_.bench = sink_.bench = this;
    const auto add = [&](auto& block, const char* name) {
      block.self = Waker{&domain_, domain_.add(block, name)};
      return block.self;
    };
    const Waker source = add(source_, "source"), unit = add(unit_, "icrc_unit");
    in_.connect(source, unit, "packets_in");
    out_.connect(unit, add(sink_, "sink"), "packets_out");
    domain_.wake_next(source.block);
  }
  // The cycles in which the receiver saw the first beats, counted from the first start in front.
  std::vector<Cycle> seen(unsigned packets) {
    left_ = packets;
    domain_.run_until(1000);
    for (Cycle& at : seen_) at -= first_start_;
    return seen_;
  }

 private:
  struct Source : engine::Block {
    UnitBench* bench = nullptr;
    void tick() {
      if (!bench->left_ || !bench->in_.can_push()) return;
      bench->in_.push(bench->item_, bench->unit_.beats(bench->item_.bytes));
      if (!bench->first_start_) bench->first_start_ = now() + 1;
      if (--bench->left_) bench->in_.wake_when_free();
    }
  };
  struct Sink : engine::Block {
    UnitBench* bench = nullptr;
    void tick() {
      if (!bench->out_.can_pop()) return;
      bench->seen_.push_back(now());
      bench->out_.pop(bench->unit_.beats(bench->out_.front().bytes));
    }
  };
  Domain domain_{Domain::Options{}};
  IcrcUnit::PacketLink in_{2, 1}, out_;
  std::vector<u8> frame_;
  IcrcItem item_;
  Source source_;
  IcrcUnit unit_;
  Sink sink_;
  unsigned left_ = 0;
  Cycle first_start_ = 0;
  std::vector<Cycle> seen_;
};
using Cycles = std::vector<Cycle>;
}  // namespace

TEST_CASE("a packet leaves the ICRC unit after its latency, the next one beat by beat",
          "[icrc_unit]") {
  CHECK(UnitBench({}, 60, IcrcMode::Generate, 8).seen(4) == Cycles{5, 6, 7, 8});
  CHECK(UnitBench({}, 61, IcrcMode::Generate, 8).seen(4) ==
        Cycles{5, 7, 9, 11});  // the ICRC needs a beat
  CHECK(UnitBench({}, 64, IcrcMode::Check, 8).seen(4) == Cycles{5, 6, 7, 8});
  CHECK(UnitBench({}, 1100, IcrcMode::Check, 8).seen(3) == Cycles{5, 23, 41});  // 18 beats
}

TEST_CASE("one cycle more of latency or interval of the ICRC unit is seen", "[icrc_unit]") {
  IcrcUnitConfig later, slower;
  ++later.latency, ++slower.interval;
  CHECK(UnitBench(later, 60, IcrcMode::Generate, 8).seen(4) == Cycles{6, 7, 8, 9});
  CHECK(UnitBench(slower, 60, IcrcMode::Generate, 8).seen(4) == Cycles{5, 7, 9, 11});
  CHECK(UnitBench(slower, 100, IcrcMode::Check, 8).seen(4) ==
        Cycles{5, 7, 9, 11});  // 2 beats anyway
}

TEST_CASE("without room behind, the ICRC unit is blocked at n - 1 and ready at n", "[icrc_unit]") {
  // One room: taken with the start in 0, free again in 6, the cycle after the receiver took the
  // packet in 5.
  CHECK(UnitBench({}, 60, IcrcMode::Check, 1).seen(3) == Cycles{5, 11, 17});
  IcrcUnitConfig later;
  ++later.latency;
  CHECK(UnitBench(later, 60, IcrcMode::Check, 1).seen(3) == Cycles{6, 13, 20});
  // Two rooms: two packets in 6 cycles.
  CHECK(UnitBench({}, 60, IcrcMode::Check, 2).seen(5) == Cycles{5, 6, 11, 12, 17});
  // Six keep the full rate; five lose the cycle in which the room comes back.
  CHECK(UnitBench({}, 60, IcrcMode::Check, 6).seen(8) == Cycles{5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(UnitBench({}, 60, IcrcMode::Check, 5).seen(8) == Cycles{5, 6, 7, 8, 9, 11, 12, 13});
}

TEST_CASE("the stage form of the ICRC unit has the timing of the block", "[icrc_unit]") {
  IcrcUnit unit({}, {});
  CHECK(unit.pass(10, 64) == 15);
  CHECK(unit.free_from() == 11);
  CHECK(unit.pass(10, 65) == 16);  // enters in 11, 2 beats
  CHECK(unit.pass(11, 64) == 18);
  CHECK(unit.pass(100, 4200) == 105);
  CHECK(unit.free_from() == 166);
}

TEST_CASE("an ICRC unit that cannot be is refused with the knob's name", "[icrc_unit]") {
  CHECK_THROWS_WITH(IcrcUnit({.interval = 0}, {}), Catch::Contains("icrc_unit.interval is 0"));
  CHECK_THROWS_WITH(IcrcUnit({.latency = 0}, {}), Catch::Contains("icrc_unit.latency is 0"));
  CHECK_THROWS_WITH(IcrcUnit({.beat_bytes = 0}, {}), Catch::Contains("icrc_unit.beat_bytes is 0"));
}
}  // namespace hca::blocks

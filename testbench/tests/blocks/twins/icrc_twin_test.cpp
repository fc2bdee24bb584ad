// SPDX-License-Identifier: Apache-2.0
// Compares blocks::IcrcUnit as a stage in both halves of the chip's port with the same unit between
// links, the twin of the RTL.
#include "model/blocks/port/icrc_unit.h"
#include "testbench/tests/blocks/twins/twin_bench.h"

namespace hca::test::icrc_twin {
namespace {
constexpr unsigned kItems = 300;
constexpr u32 kLeast = 60, kMost = 600;  // bytes

struct Traffic {
  Traffic(engine::Random& random, u32 most) {
    const Cycles arrivals = random_arrivals(random, kItems, 12);
    for (unsigned i = 0; i < kItems; ++i) {
      IcrcItem item;
      frames.emplace_back(most + crc_bytes(proto::Framing::RoceV2Ip4), u8(i));
      item.frame = frames.back().data(), item.bytes = kLeast + u32(random.below(most - kLeast));
      item.mode = IcrcMode(random.below(3));
      plan.push_back({arrivals[i], item});
    }
  }
  std::deque<std::vector<u8>> frames;
  Plan<IcrcItem> plan;
};
using Run = UnitRun<IcrcUnit, IcrcItem>;

IcrcUnitConfig random_times(engine::Random& random) {
  IcrcUnitConfig config;
  if (random.chance(1, 2)) return config;  // as shipped
  config.latency = 1 + random.below(9), config.interval = 1 + random.below(4);
  return config;
}
}  // namespace

// The segment requests room before a packet enters the stage, and the room is free again in the
// cycle after its packet was taken.
TEST_CASE("a packet leaves the stage of the port in the cycle in which it leaves the ICRC unit",
          "[icrc_unit][twin]") {
  const u64 seed = GENERATE(range<u64>(1, kTwinRuns));
  engine::Random random(seed);
  const IcrcUnitConfig config = random_times(random);
  const unsigned depth = 1 + unsigned(random.below(8));
  CAPTURE(seed, config.latency, config.interval, depth);
  const Traffic t(random, random.chance(1, 2) ? kMost : kLeast + 8);
  const Cycles waits = random_waits(random, kItems);
  const Run unit(config, t.plan, depth, waits);
  IcrcUnit stage(config, {});
  Cycles leaves, taken;
  for (unsigned i = 0; i < kItems; ++i) {
    const Cycle room = i < depth ? 0 : taken[i - depth] + 1;
    leaves.push_back(stage.pass(std::max(t.plan[i].first, room), unit.taker.items[i].bytes));
    taken.push_back(std::max(leaves[i], i ? taken[i - 1] + 1 : 0) + waits[i]);
  }
  CHECK(leaves == unit.leaves());
}
}  // namespace hca::test::icrc_twin
